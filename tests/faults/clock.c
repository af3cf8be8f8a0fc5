/* For LD_PRELOAD: a clock of the wall that jumps. Every look at it (clock_gettime, gettimeofday, time) finds it a day before or behind, or right,
 * by the number of the look, so that a run finds the same jumps again; the clocks that only go forward are left alone. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/time.h>
#include <time.h>

/* Seconds of the next look: a multiplicative hash, so that no regular pattern of looks always finds the same. */
static time_t jump(void) {
  static atomic_uint looks;
  const unsigned hash = (atomic_fetch_add(&looks, 1) + 1) * 2654435769u;
  return ((time_t)((hash >> 16) % 3) - 1) * 86400;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int clock_gettime(clockid_t clock, struct timespec* now) {
  const int result = NEXT(clock_gettime)(clock, now);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += jump();
  return result;
}

int gettimeofday(struct timeval* now, void* zone) {
  const int result = NEXT(gettimeofday)(now, zone);
  if (result == 0) now->tv_sec += jump();
  return result;
}

time_t time(time_t* out) {
  const time_t now = NEXT(time)(NULL) + jump();
  if (out) *out = now;
  return now;
}
