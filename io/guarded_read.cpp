#include "io/guarded_read.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <new>
#include <set>
#include <string_view>
#include <tuple>

namespace fedpp::io {

namespace {

constexpr std::uint64_t kMega = 1u << 20;
constexpr char kGood = '+';  // the child's last word; the text of an error begins with '-'

/// The soft limit only: at the hard one of the processor's time the system says SIGKILL, which has other reasons too.
void lower_limit(decltype(RLIMIT_CPU) resource, std::uint64_t value) {
  rlimit limit{};
  ::getrlimit(resource, &limit);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_cur, value);
  ::setrlimit(resource, &limit);
}

/// Bytes of addresses that this process has.
std::uint64_t address_space() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

void set_limits(const TrialLimits& limits) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a killed rank leaves nobody behind
  lower_limit(RLIMIT_CORE, 0);
  lower_limit(RLIMIT_CPU, limits.cpu_seconds);
  ::alarm(static_cast<unsigned>(std::min<std::uint64_t>(limits.seconds, 1u << 30)));
  if (kMemoryIsLimited) lower_limit(RLIMIT_AS, address_space() + limits.bytes);
  // Should memory run out all the same, then this process is the one to go.
  std::ofstream("/proc/self/oom_score_adj") << 1000;
  // MPI and job scripts catch signals; here they end the process, without a word.
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_UNBLOCK, &all, nullptr);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU, SIGALRM}) std::signal(signal, SIG_DFL);
  if (const int null = ::open("/dev/null", O_WRONLY | O_CLOEXEC); null >= 0) ::dup2(null, STDERR_FILENO);
}

void say(int pipe, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(pipe, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

/// The child. Nothing of the parent's may run in it but `read`: no handlers at exit, no buffers of stdout.
[[noreturn]] void child(const std::string& path, const TrialRead& read, const std::string& remedy,
                        const TrialLimits& limits, int pipe) {
  set_limits(limits);
  try {
    read(File::open_read(path));
    say(pipe, std::string_view(&kGood, 1));
  } catch (const Error& error) {
    say(pipe, fmt::format("-{}", error.what()));
  } catch (const std::bad_alloc&) {
    say(pipe, fmt::format("-{}: refused: reading it takes more than {} MB of memory, so it is damaged{}", path,
                          limits.bytes / kMega, remedy));
  } catch (...) {
    ::_exit(1);  // no last word: the parent says that
  }
  ::_exit(0);
}

std::string heard(int pipe) {
  std::string text;
  char block[4096];
  for (;;) {
    const ssize_t count = ::read(pipe, block, sizeof block);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(block, static_cast<std::size_t>(count));
  }
}

/// How a child ended that had no last word, and what that says of the file. `status`: as of waitpid().
std::string end_of(int status, const TrialLimits& limits) {
  constexpr const char* kDamaged = "so it is damaged";
  if (!WIFSIGNALED(status)) return fmt::format("HDF5 gave up on it, {}", kDamaged);
  const int signal = WTERMSIG(status);
  if (signal == SIGXCPU)
    return fmt::format("HDF5 was not through with it after {} s of work, {}", limits.cpu_seconds, kDamaged);
  if (signal == SIGALRM) return fmt::format("HDF5 was not through with it after {} s, {}", limits.seconds, kDamaged);
  if (signal == SIGKILL)
    return "the process that read it first was killed: it is damaged and took all memory, or somebody killed it";
  return fmt::format("HDF5 crashed on it ({}), {}", ::strsignal(signal), kDamaged);
}

}  // namespace

TrialLimits trial_limits(std::uint64_t file_bytes) {
  const std::uint64_t mega = file_bytes / kMega;
  const std::uint64_t memory =
      static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return {10 + mega, 600 + 10 * mega, std::min(256 * kMega + 256 * file_bytes, memory)};
}

void try_reading(const std::string& path, const TrialRead& read, const std::string& remedy, const TrialLimits& limits) {
  const auto unable = [&](int code) {
    return Error(fmt::format("{}: cannot start the process that reads it first: {}", path, std::strerror(code)));
  };
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw unable(errno);
  const pid_t process = ::fork();
  const int code = errno;
  if (process == 0) child(path, read, remedy, limits, ends[1]);
  ::close(ends[1]);
  const std::string word = process > 0 ? heard(ends[0]) : "";
  ::close(ends[0]);
  if (process < 0) throw unable(code);
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  if (word == std::string_view(&kGood, 1)) return;
  if (!word.empty()) throw Error(word.substr(1));
  throw Error(fmt::format("{}: refused: {}{}", path, end_of(status, limits), remedy));
}

File open_guarded(const std::string& path, const TrialRead& read, const std::string& remedy) {
  using Identity = std::tuple<dev_t, ino_t, off_t, time_t, long>;
  static std::set<Identity> came_through;
  struct stat file{};
  if (::stat(path.c_str(), &file) != 0) return File::open_read(path);  // says why it cannot be opened
  const Identity identity{file.st_dev, file.st_ino, file.st_size, file.st_mtim.tv_sec, file.st_mtim.tv_nsec};
  if (!came_through.contains(identity)) {
    try_reading(path, read, remedy, trial_limits(static_cast<std::uint64_t>(file.st_size)));
    came_through.insert(identity);
  }
  return File::open_read(path);
}

}  // namespace fedpp::io
