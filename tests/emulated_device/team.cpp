// Launches, and the threads of their teams: fibers, each of which runs until it waits for others. In which order they
// and the teams run is drawn, so that what relies on an order fails; under the thread sanitizer a fiber is a thread,
// which knows of another's accesses by a barrier alone. Compiled without sanitizers.
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <boost/context/fiber.hpp>
#include <boost/context/preallocated.hpp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <numeric>
#include <utility>

#include "inside.hpp"

namespace emulated_device {

namespace {

namespace context = boost::context;

constexpr std::size_t kStack = 256 << 10, kPage = 4096;
constexpr int kWarp = 32;

/// A stack of its own between pages that nobody may touch.
class Stack {
 public:
  Stack() {
    void* pages = mmap(nullptr, kStack + 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) throw std::bad_alloc();
    bottom_ = static_cast<char*>(pages) + kPage;
    mprotect(bottom_, kStack, PROT_READ | PROT_WRITE);
  }
  char* bottom() const { return bottom_; }
  context::preallocated room() const {
    context::stack_context all;
    all.sp = bottom_ + kStack;
    all.size = kStack;
    return {all.sp, all.size, all};
  }

 private:
  char* bottom_;
};

/// Stacks are never given back.
struct Nothing {
  void deallocate(context::stack_context&) const noexcept {}
};

/// An object that is never destroyed, outside the heap, which kernels cannot touch.
template <class T>
class Forever {
 public:
  template <class... A>
  void make(A&&... arguments) {
    made_ = new (room_) T(std::forward<A>(arguments)...);
  }
  explicit operator bool() const { return made_ != nullptr; }
  T* operator->() const { return made_; }
  T& operator*() const { return *made_; }

 private:
  alignas(T) char room_[sizeof(T)];
  T* made_ = nullptr;
};

/// One flow of control, and who resumed it.
struct Flow {
  Stack stack;
  context::fiber self, resumer;
  void* tsan = __tsan_create_fiber ? __tsan_create_fiber(0) : nullptr;
  void* tsan_resumer = nullptr;
  void* fake_stack = nullptr;
  const void* resumer_bottom = nullptr;
  std::size_t resumer_size = 0;

  template <class F>
  explicit Flow(F f) {
    self = context::fiber(std::allocator_arg, stack.room(), Nothing{}, [this, f](context::fiber&& from) {
      resumer = std::move(from);
      arrived();
      f();
      return std::move(resumer);
    });
  }

  /// Runs it until it pauses. `ordered`: what was done before is known to it, and what it did is known afterwards.
  void resume(bool ordered) {
    void* own_fake_stack = nullptr;
    if (__tsan_get_current_fiber) tsan_resumer = __tsan_get_current_fiber();
    if (__sanitizer_start_switch_fiber) __sanitizer_start_switch_fiber(&own_fake_stack, stack.bottom(), kStack);
    ordered_ = ordered;
    if (__tsan_switch_to_fiber) __tsan_switch_to_fiber(tsan, ordered ? 0 : 1);
    self = std::move(self).resume();
    if (__sanitizer_finish_switch_fiber) __sanitizer_finish_switch_fiber(own_fake_stack, nullptr, nullptr);
  }
  void pause() {
    if (__sanitizer_start_switch_fiber) __sanitizer_start_switch_fiber(&fake_stack, resumer_bottom, resumer_size);
    if (__tsan_switch_to_fiber) __tsan_switch_to_fiber(tsan_resumer, ordered_ ? 0 : 1);
    resumer = std::move(resumer).resume();
    arrived();
  }

 private:
  void arrived() {
    if (__sanitizer_finish_switch_fiber) __sanitizer_finish_switch_fiber(fake_stack, &resumer_bottom, &resumer_size);
  }
  bool ordered_ = true;
};

enum class At { kEnd, kRunning, kBarrier, kSum, kShuffle, kWarpBarrier };
const char* text(At at) {
  constexpr const char* kTexts[] = {"has returned",       "runs",
                                    "waits at a barrier", "waits at a sum",
                                    "waits at a shuffle", "waits at a barrier of its warp"};
  return kTexts[static_cast<int>(at)];
}

/// The kernel that runs.
struct Kernel {
  const char* name = "";
  void (*thread)(const void*, int, int) = nullptr;
  const void* arguments = nullptr;
  Scratch scratch;
} kernel;

struct Place;

struct Thread {
  Place* place;
  int rank;
  At at = At::kEnd;
  unsigned barriers = 0, warp_barriers = 0;
  double value = 0, result = 0;
  unsigned mask = 0;
  int other = 0;
  Flow flow;
  Thread(Place* of, int r) : place(of), rank(r), flow([this] { loop(); }) {}
  void loop();
  void wait(At where) {
    at = where;
    flow.pause();
  }
};

/// Where a team runs: its threads, its scratch and who clears that. Under the thread sanitizer there are two, a team
/// runs in one that is drawn, and neither knows of the other before the launch has ended: so it sees what teams of a
/// launch do to the same memory.
struct Place {
  int league_rank = 0, team = 0;
  Forever<Thread> threads[kTeam];
  char* scratch[2] = {nullptr, nullptr};
  std::size_t scratch_bytes[2] = {0, 0};
  Flow keeper{[this] {
    for (;;) {
      prepare();
      keeper.pause();
    }
  }};
  /// What the thread sanitizer hangs its clocks on. Threads learn of earlier teams here by `begins`, and tell of what
  /// they did by `ends`: one clock for both would order a thread behind those that have returned.
  char begins = 0, ends = 0, barriers[2] = {0, 0}, warp_barriers[2][kTeam] = {};

  void prepare();
  void make_scratch(int level, std::size_t bytes);
  void run(int rank_of_team, int threads_of_team);
  bool release_warp(int warp);
  void release_barrier();
  [[noreturn]] void fail_waiting() const;
};

Thread* current = nullptr;  ///< whose code runs; nullptr outside kernels

void Thread::loop() {
  for (;;) {
    if (__tsan_acquire) __tsan_acquire(&place->begins);
    kernel.thread(kernel.arguments, place->league_rank, rank);
    if (__tsan_release) __tsan_release(&place->ends);
    wait(At::kEnd);
  }
}

/// Where all of a team meet: what each did before is known to all afterwards. The sum of their values.
double meet(At where, double value) {
  Thread& t = *current;
  char& clock = t.place->barriers[t.barriers++ % 2];
  t.value = value;
  if (__tsan_release) __tsan_release(&clock);
  t.wait(where);
  if (__tsan_acquire) __tsan_acquire(&clock);
  return t.result;
}

/// EMULATED_DEVICE_SEED chooses other orders.
std::uint64_t seed = 1, state = 0;

std::uint32_t draw() {
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return static_cast<std::uint32_t>(state >> 33);
}

void Place::make_scratch(int level, std::size_t bytes) {
  constexpr std::size_t kMost[] = {kShared, kTeamGlobal};
  if (bytes > kMost[level]) fail("wants more scratch than a device has");
  if (bytes > 0 && !scratch[level]) {
    void* pages =
        mmap(nullptr, kMost[level] + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) fail("gets no scratch from the host");
    scratch[level] = static_cast<char*>(pages);
  }
  scratch_bytes[level] = bytes;
  if (bytes == 0) return;
  if (__asan_unpoison_memory_region) __asan_unpoison_memory_region(scratch[level], kMost[level]);
  std::memset(scratch[level], 0xff, bytes);  // what an earlier team left is no longer there
  if (__asan_poison_memory_region) __asan_poison_memory_region(scratch[level] + bytes, kMost[level] + kPage - bytes);
}

void Place::prepare() {
  if (__tsan_acquire) __tsan_acquire(&ends);  // of the team that was here before, and of the launch
  for (const int level : {0, 1}) make_scratch(level, kernel.scratch.bytes[level]);
  if (__tsan_release) __tsan_release(&begins);
}

/// The lanes of a warp whose partners have all come to the same shuffle or barrier go on.
bool Place::release_warp(int warp) {
  const int first = warp * kWarp;
  bool any = false;
  for (int lane = 0; lane < kWarp && first + lane < team; ++lane) {
    Thread& t = *threads[first + lane];
    const At at = t.at;
    if (at != At::kShuffle && at != At::kWarpBarrier) continue;
    bool complete = true;
    for (int p = 0; p < kWarp; ++p)
      if (t.mask >> p & 1)
        complete = complete && first + p < team && threads[first + p]->at == at && threads[first + p]->mask == t.mask &&
                   threads[first + p]->other == t.other;
    if (!complete) continue;
    for (int p = 0; p < kWarp; ++p)
      if (t.mask >> p & 1) threads[first + p]->result = threads[first + (p ^ t.other)]->value;
    for (int p = 0; p < kWarp; ++p)
      if (t.mask >> p & 1) threads[first + p]->at = At::kRunning;
    any = true;
  }
  return any;
}

void Place::release_barrier() {
  double sum = 0;
  for (int rank = 0; rank < team; ++rank) sum += threads[rank]->value;
  for (int rank = 0; rank < team; ++rank) {
    threads[rank]->result = sum;
    threads[rank]->at = At::kRunning;
  }
}

void Place::fail_waiting() const {
  open_host_memory();
  for (int rank = 0; rank < team; ++rank)
    if (rank == 0 || threads[rank]->at != threads[rank - 1]->at)
      std::fprintf(stderr, "  thread %d of team %d %s\n", rank, league_rank, text(threads[rank]->at));
  fail("waits for ever: not all threads come to the same barrier, sum or shuffle");
}

void Place::run(int rank_of_team, int threads_of_team) {
  league_rank = rank_of_team;
  team = threads_of_team;
  keeper.resume(false);
  for (int rank = 0; rank < team; ++rank) {
    if (!threads[rank]) threads[rank].make(this, rank);
    Thread& t = *threads[rank];
    t.at = At::kRunning;
    t.barriers = t.warp_barriers = 0;
  }
  int order[kTeam];
  std::iota(order, order + team, 0);
  for (;;) {
    for (int i = team - 1; i > 0; --i) std::swap(order[i], order[draw() % static_cast<unsigned>(i + 1)]);
    for (int i = 0; i < team; ++i) {
      Thread& t = *threads[order[i]];
      if (t.at != At::kRunning) continue;
      current = &t;
      t.flow.resume(false);
      current = nullptr;
    }
    bool any = false;
    for (int warp = 0; warp * kWarp < team; ++warp) any = release_warp(warp) || any;
    if (any) continue;
    const At at = threads[0]->at;
    for (int rank = 1; rank < team; ++rank)
      if (threads[rank]->at != at) fail_waiting();
    if (at == At::kEnd) return;
    if (at == At::kShuffle || at == At::kWarpBarrier) fail_waiting();
    release_barrier();
  }
}

Forever<Place> places[2];
int place_count() { return __tsan_acquire ? 2 : 1; }

// --- launches

alignas(64) char queue[4 << 20];
std::size_t queue_end = 0;
Launch* waiting[1 << 14];
int waiters = 0;

void run_waiting() {
  close_host_memory();
  for (int k = 0; k < waiters; ++k) {
    kernel = {};
    kernel.name = waiting[k]->name();
    waiting[k]->run();
  }
  kernel = {};
  open_host_memory();
}

/// Kernels run on a stack of the device's: the host's is out of reach meanwhile.
Forever<Flow> device;

void make_device() {
  if (device) return;
  if (const char* text = std::getenv("EMULATED_DEVICE_SEED")) seed = std::strtoull(text, nullptr, 10);
  state = seed * 0x9e3779b97f4a7c15ull;
  for (int k = 0; k < place_count(); ++k) places[k].make();
  device.make([] {
    for (;;) {
      run_waiting();
      device->pause();
    }
  });
}

}  // namespace

Launch::Launch(const std::string& label) { std::snprintf(name_, sizeof name_, "%s", label.c_str()); }

void* room(std::size_t bytes) {
  bytes = (bytes + 63) / 64 * 64;
  if (bytes > sizeof queue) fail("has more arguments than the queue has room");
  if (queue_end + bytes > sizeof queue || waiters == static_cast<int>(sizeof waiting / sizeof *waiting)) finish();
  void* place = queue + queue_end;
  queue_end += bytes;
  return place;
}

void enqueue(Launch* launch) { waiting[waiters++] = launch; }

void finish() {
  if (in_kernel()) fail("asks for the end of launches");
  if (waiters == 0) return;
  make_device();
  {
    const HostAccess access;
    device->resume(true);
  }
  const int done = std::exchange(waiters, 0);
  queue_end = 0;
  for (int k = 0; k < done; ++k) waiting[k]->~Launch();
}

namespace {
MostScratch most_since_asked;
}  // namespace

MostScratch most_scratch() { return std::exchange(most_since_asked, {}); }

void run_league(int league, int team, const Scratch& scratch, void (*thread)(const void*, int, int),
                const void* arguments) {
  kernel.thread = thread;
  kernel.arguments = arguments;
  kernel.scratch = scratch;
  for (int level : {0, 1})
    most_since_asked.bytes[level] = std::max(most_since_asked.bytes[level], scratch.bytes[level]);
  const auto at_a_time = static_cast<std::size_t>(std::min(league, kThreads / std::max(team, 1)));
  most_since_asked.teams = std::max(most_since_asked.teams, scratch.bytes[1] * at_a_time);
  if (team < 1 || team > kTeam) fail("has teams of a size that is not there");
  if (league <= 0) return;
  for (int k = 0; k < place_count(); ++k)
    if (__tsan_release) __tsan_release(&places[k]->ends);
  unsigned step = league > 1 ? draw() % static_cast<unsigned>(league) : 0;
  while (std::gcd(step, static_cast<unsigned>(league)) != 1) ++step;
  std::uint64_t rank = draw() % static_cast<unsigned>(league);
  unsigned place = 0;
  for (int k = 0; k < league; ++k, rank = (rank + step) % static_cast<unsigned>(league)) {
    place = k % 2 == 0 ? draw() : place + 1;  // of two teams each has its own
    places[place % static_cast<unsigned>(place_count())]->run(static_cast<int>(rank), team);
  }
  for (int k = 0; k < place_count(); ++k)
    if (__tsan_acquire) __tsan_acquire(&places[k]->ends);
}

bool in_kernel() { return current != nullptr; }

const char* kernel_name() { return kernel.name; }

void fail(const char* what) {
  open_host_memory();
  const bool kernels = kernel.name[0] != '\0';
  std::fprintf(stderr, "emulated device (seed %llu): %s%s %s\n", static_cast<unsigned long long>(seed),
               kernels ? "the kernel " : "", kernel.name, what);
  std::abort();
}

void team_barrier() { meet(At::kBarrier, 0); }
double team_sum(double value) { return meet(At::kSum, value); }

namespace {

/// Where the threads of a mask meet, each with a value; that of the thread whose number differs in `other`.
double meet_warp(At where, unsigned mask, double value, int other) {
  Thread& t = *current;
  const int lane = t.rank % kWarp;
  if (other < 0 || other >= kWarp || !(mask >> lane & 1) || !(mask >> (lane ^ other) & 1))
    fail("shuffles with a thread that its mask leaves out");
  t.value = value;
  t.mask = mask;
  t.other = other;
  t.wait(where);
  return t.result;
}

}  // namespace

double shuffle_xor(unsigned mask, double value, int other) { return meet_warp(At::kShuffle, mask, value, other); }

void warp_barrier(unsigned mask) {
  Thread& t = *current;
  if (mask == 0) fail("waits for a warp without threads");
  char& clock = t.place->warp_barriers[t.warp_barriers++ % 2][t.rank / kWarp * kWarp + std::countr_zero(mask)];
  if (__tsan_release) __tsan_release(&clock);
  meet_warp(At::kWarpBarrier, mask, 0, 0);
  if (__tsan_acquire) __tsan_acquire(&clock);
}

char* scratch_begin(int level) { return current->place->scratch[level]; }
std::size_t scratch_bytes(int level) { return current->place->scratch_bytes[level]; }

}  // namespace emulated_device
