// A build for newer processors than the one that it runs on says so, before the first instruction that this one lacks
// ends it without a word. Ahead of all other code of the program but for constructors of shared libraries, and compiled
// for the oldest processor. On x86-64, and on 64-bit Arm where GCC compiles (Clang takes no older processor for single
// functions there).
#include <unistd.h>

#include <cstring>

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define FEDPP_ANY_PROCESSOR __attribute__((target("arch=x86-64,no-avx")))
#elif defined(__aarch64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#define FEDPP_ANY_PROCESSOR __attribute__((target("arch=armv8-a")))
#endif

#if defined(FEDPP_ANY_PROCESSOR)

namespace {

/// What the build counts on and this processor lacks, the oldest of it, which says most; null: nothing.
FEDPP_ANY_PROCESSOR const char* lacking() {
#if defined(__x86_64__)
  __builtin_cpu_init();
#define FEDPP_REQUIRE(feature) \
  if (!__builtin_cpu_supports(feature)) return feature
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
#elif defined(__aarch64__)
#define FEDPP_REQUIRE(word, bit, feature) \
  if (!(::getauxval(word) & (bit))) return feature
#if defined(__ARM_FEATURE_ATOMICS)
  FEDPP_REQUIRE(AT_HWCAP, HWCAP_ATOMICS, "lse");
#endif
#if defined(__ARM_FEATURE_QRDMX)
  FEDPP_REQUIRE(AT_HWCAP, HWCAP_ASIMDRDM, "rdma");
#endif
#if defined(__ARM_FEATURE_FP16_VECTOR_ARITHMETIC)
  FEDPP_REQUIRE(AT_HWCAP, HWCAP_ASIMDHP, "fp16");
#endif
#if defined(__ARM_FEATURE_DOTPROD)
  FEDPP_REQUIRE(AT_HWCAP, HWCAP_ASIMDDP, "dotprod");
#endif
#if defined(__ARM_FEATURE_COMPLEX)
  FEDPP_REQUIRE(AT_HWCAP, HWCAP_FCMA, "fcma");
#endif
#if defined(__ARM_FEATURE_SVE)
  FEDPP_REQUIRE(AT_HWCAP, HWCAP_SVE, "sve");
#endif
#if defined(__ARM_FEATURE_SVE2)
  FEDPP_REQUIRE(AT_HWCAP2, HWCAP2_SVE2, "sve2");
#endif
#endif
#undef FEDPP_REQUIRE
  return nullptr;
}

#if defined(__x86_64__)
constexpr char kOldest[] = "x86-64-v3 wants avx2, x86-64-v2 sse4.2, an empty one runs on all";
#else
constexpr char kOldest[] = "neoverse-v1 wants sve, neoverse-n1 lse, an empty one runs on all";
#endif

FEDPP_ANY_PROCESSOR void say(const char* text) {
  if (::write(STDERR_FILENO, text, std::strlen(text)) < 0) return;  // nowhere else to say it
}

FEDPP_ANY_PROCESSOR __attribute__((constructor(101))) void require_processor() {
  const char* const feature = lacking();
  if (!feature) return;
  say("fedpp: error: built for a processor with ");
  say(feature);
  say(", which this one lacks: build it with -DFEDPP_ARCH=PROCESSOR, the oldest that it shall run on (");
  say(kOldest);
  say(")\n");
  ::_exit(1);
}

}  // namespace

#endif
