// A build for newer processors than the one that it runs on says so, before the first instruction that this one lacks
// ends it without a word. Ahead of all other code of the program but for constructors of shared libraries, and compiled
// for the oldest processor.
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
  const char* lacking = nullptr;  // the oldest, which says most
#define FEDPP_REQUIRE(feature) \
  if (!lacking && !__builtin_cpu_supports(feature)) lacking = feature
#if defined(__SSE4_2__)
  FEDPP_REQUIRE("sse4.2");
#endif
#if defined(__POPCNT__)
  FEDPP_REQUIRE("popcnt");
#endif
#if defined(__AVX__)
  FEDPP_REQUIRE("avx");
#endif
#if defined(__AVX2__)
  FEDPP_REQUIRE("avx2");
#endif
#if defined(__FMA__)
  FEDPP_REQUIRE("fma");
#endif
#if defined(__BMI__)
  FEDPP_REQUIRE("bmi");
#endif
#if defined(__BMI2__)
  FEDPP_REQUIRE("bmi2");
#endif
#if defined(__AVX512F__)
  FEDPP_REQUIRE("avx512f");
#endif
#if defined(__AVX512BW__)
  FEDPP_REQUIRE("avx512bw");
#endif
#if defined(__AVX512CD__)
  FEDPP_REQUIRE("avx512cd");
#endif
#if defined(__AVX512DQ__)
  FEDPP_REQUIRE("avx512dq");
#endif
#if defined(__AVX512VL__)
  FEDPP_REQUIRE("avx512vl");
#endif
#if defined(__AVX512IFMA__)
  FEDPP_REQUIRE("avx512ifma");
#endif
#if defined(__AVX512VBMI__)
  FEDPP_REQUIRE("avx512vbmi");
#endif
#if defined(__AVX512VBMI2__)
  FEDPP_REQUIRE("avx512vbmi2");
#endif
#if defined(__AVX512VNNI__)
  FEDPP_REQUIRE("avx512vnni");
#endif
#if defined(__AVX512BITALG__)
  FEDPP_REQUIRE("avx512bitalg");
#endif
#if defined(__AVX512VPOPCNTDQ__)
  FEDPP_REQUIRE("avx512vpopcntdq");
#endif
#if defined(__GFNI__)
  FEDPP_REQUIRE("gfni");
#endif
  if (!lacking) return;
  say("fedpp: error: built for a processor with ");
  say(lacking);
  say(", which this one lacks: build it with -DFEDPP_ARCH=PROCESSOR, the oldest that it shall run on (x86-64-v3 wants "
      "avx2, x86-64-v2 sse4.2, an empty one runs on all)\n");
  ::_exit(1);
}

}  // namespace

#endif
