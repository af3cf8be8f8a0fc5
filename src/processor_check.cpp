// A build for newer processors than the one that it runs on says so, before the first instruction that this one lacks
// ends it without a word. Runs ahead of all other code of the program, compiled for the oldest processor.
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))

#include <unistd.h>

#include <cstring>

namespace {

#define FEDPP_ANY_PROCESSOR __attribute__((target("arch=x86-64,no-avx")))

FEDPP_ANY_PROCESSOR void say(const char* text) {
  if (::write(STDERR_FILENO, text, std::strlen(text)) < 0) return;  // nowhere else to say it
}

FEDPP_ANY_PROCESSOR __attribute__((constructor(101))) void require_processor() {
  __builtin_cpu_init();
  const char* lacking = nullptr;
#if defined(__AVX2__)
  if (!__builtin_cpu_supports("avx2")) lacking = "AVX2";
#endif
#if defined(__FMA__)
  if (!__builtin_cpu_supports("fma")) lacking = "FMA";
#endif
#if defined(__BMI2__)
  if (!__builtin_cpu_supports("bmi2")) lacking = "BMI2";
#endif
#if defined(__AVX512F__)
  if (!__builtin_cpu_supports("avx512f")) lacking = "AVX-512";
#endif
#if defined(__AVX512DQ__) && defined(__AVX512VL__)
  if (!__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl")) lacking = "AVX-512 DQ and VL";
#endif
  if (!lacking) return;
  say("fedpp: error: built for a processor with ");
  say(lacking);
  say(", which this one lacks: build it with -DFEDPP_ARCH=PROCESSOR, the oldest that it shall run on (x86-64-v3: AVX2)\n");
  ::_exit(1);
}

}  // namespace

#endif
