#include "federation/progress.hpp"

#include <fmt/format.h>
#include <spdlog/details/null_mutex.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/base_sink.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "config/counted.hpp"
#include "evaluation/number_text.hpp"
#include "federation/machine.hpp"
#include "io/appended_file.hpp"
#include "io/json_lines.hpp"
#include "mpi/turns.hpp"

namespace fedpp::federation {

namespace {

constexpr std::chrono::seconds kBetweenPlainLines{30};
constexpr std::chrono::milliseconds kBetweenRenewals{200};  // within a step

/// Whether the process that started this one is Open MPI's, and not a shell below it.
bool started_by_mpirun() {
  std::string name;
  std::getline(std::ifstream(fmt::format("/proc/{}/comm", getppid())), name);
  return name.starts_with("mpirun") || name.starts_with("mpiexec") || name.starts_with("orte") ||
         name.starts_with("prte");
}

/// Whether a person watches. Under mpirun output goes to a pipe or a terminal of mpirun's own making; where that leads
/// to is mpirun's output.
bool on_terminal(std::FILE* out) {
  const int fd = fileno(out);
  if (std::getenv("OMPI_COMM_WORLD_SIZE") == nullptr) return isatty(fd) != 0;
  namespace fs = std::filesystem;
  std::error_code unknown;
  const bool of_mpirun = isatty(fd) != 0 || fs::is_fifo(fs::status(fmt::format("/proc/self/fd/{}", fd), unknown));
  if (!of_mpirun || !started_by_mpirun()) return false;
  const auto target = fs::read_symlink(fmt::format("/proc/{}/fd/{}", getppid(), fd), unknown).string();
  return !unknown && (target.starts_with("/dev/pts/") || target.starts_with("/dev/tty"));
}

/// train.log; spdlog's own sink would follow a link of this name.
class LogFile : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  explicit LogFile(const std::string& path) : file_(path) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    if (const int code = file_.append({line.data(), line.size()}); code != 0)
      throw std::system_error(code, std::generic_category());
  }
  void flush_() override {}

 private:
  io::AppendedFile file_;
};

/// What is left if it goes on as it went so far.
std::string time_left(std::chrono::steady_clock::time_point start, double done, double left) {
  const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const double seconds = elapsed / done * left;
  return seconds < 90 ? fmt::format("{:.0f} s left", seconds) : fmt::format("{:.1f} min left", seconds / 60);
}

}  // namespace

Progress::Progress(mpi::Communicator& world, bool renew, const std::string& directory)
    : speaks_(world.is_root()),
      several_ranks_(world.size() > 1),
      renew_(speaks_ && renew && on_terminal(stdout)),
      out_(stdout) {
  mpi::on_root(world, [&] {
    records_ = std::make_unique<io::JsonLinesWriter>(directory + "/status.jsonl");
    log_ = std::make_shared<spdlog::logger>("train", std::make_shared<LogFile>(directory + "/train.log"));
    log_->set_pattern("%Y-%m-%d %H:%M:%S %v");
    log_->set_error_handler([said = false](const std::string& what) mutable {  // a full disk, at every line
      if (!said) fmt::print(stderr, "fedpp: train.log lacks lines: {}\n", what);
      said = true;
    });
  });
}

Progress::Progress(const mpi::Communicator& world, bool renew)
    : speaks_(world.is_root() && renew),
      several_ranks_(world.size() > 1),
      renew_(speaks_ && on_terminal(stderr)),
      out_(stderr) {}

Progress::~Progress() = default;

void Progress::note(const std::string& text) {
  if (log_) log_->info(text);
}

void Progress::record(nlohmann::ordered_json object) {
  if (!records_) return;
  object["time"] = timestamp();
  records_->append(object);
}

void Progress::line(const std::string& text) {
  if (!speaks_) return;
  renewable_ = false;
  fmt::print(out_, "{}\n", text);
  std::fflush(out_);
  note(text);
}

void Progress::round(std::int64_t round, std::int64_t rounds, double elbo_gain, double validation,
                     std::int64_t best_round) {
  if (!speaks_) return;
  ++rounds_done_;
  std::string text =
      fmt::format("round {:>4}/{}  ELBO {}", round + 1, rounds, evaluation::number_text(elbo_gain, "{:+.4f}"));
  if (std::isfinite(validation)) text += fmt::format("  validation {:.4f}", validation);
  if (best_round >= 0) text += fmt::format("  (best: round {})", best_round + 1);
  text += "  " + time_left(start_, static_cast<double>(rounds_done_), static_cast<double>(rounds - round - 1));
  if (!renew_) return line(text);
  renewed(text);
  note(text);
}

void Progress::pass(const std::string& what, std::size_t clients) {
  renewable_ = false;
  pass_ = {what, clients, 0, Clock::now(), Clock::now(), {}};
}

void Progress::step(std::size_t clients) {
  if (!speaks_) return;
  pass_.done += clients;
  say_pass(0);
}

void Progress::within_step(double share) {
  if (speaks_ && share > 0 && Clock::now() - pass_.renewed >= kBetweenRenewals) say_pass(share);
}

void Progress::say_pass(double share) {
  const std::size_t left = pass_.clients - pass_.done;
  const double done = static_cast<double>(pass_.done) + share;
  const std::string text = fmt::format("{}: {} of {}{}{}, {}", pass_.what, pass_.done,
                                       config::counted(static_cast<std::int64_t>(pass_.clients), "client"),
                                       several_ranks_ ? " of rank 0" : "",
                                       share > 0 ? fmt::format(", {:.0f} % of the next", 100 * share) : "",
                                       time_left(pass_.start, done, static_cast<double>(pass_.clients) - done));
  const auto now = Clock::now();
  const bool due = left > 0 && now - pass_.said >= kBetweenPlainLines;
  if (due) pass_.said = now;
  pass_.renewed = now;
  if (renew_) {
    renewed(left > 0 ? text : "");
    if (due) note(text);
  } else if (due) {
    line(text);
  }
}

void Progress::renewed(const std::string& text) {
  constexpr const char *kClearAbove = "\033[A\033[K", *kUp = "\033[A";
  // All that is written ends a line: mpirun of Open MPI 5 holds output back until its line ends, and sends what it held
  // of standard error to standard output. The price: what others wrote since on that terminal is a line shorter.
  if (!text.empty()) {
    fmt::print(out_, "{}{}\n", renewable_ ? kClearAbove : "", text);
  } else if (renewable_) {
    fmt::print(out_, "{}{}\n", kClearAbove, kUp);
  }
  std::fflush(out_);
  renewable_ = !text.empty();
}

}  // namespace fedpp::federation
