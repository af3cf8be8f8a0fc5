#include "federation/progress.hpp"

#include <fmt/format.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "evaluation/number_text.hpp"
#include "federation/machine.hpp"
#include "io/json_lines.hpp"

namespace fedpp::federation {

namespace {

/// Whether a person watches. Under mpirun standard output is always a terminal of mpirun's own making; where that
/// leads to is the standard output of the parent process.
bool on_terminal() {
  if (isatty(STDOUT_FILENO) == 0) return false;
  if (std::getenv("OMPI_COMM_WORLD_SIZE") == nullptr) return true;
  std::error_code unknown;
  const auto target = std::filesystem::read_symlink(fmt::format("/proc/{}/fd/1", getppid()), unknown).string();
  return !unknown && (target.starts_with("/dev/pts/") || target.starts_with("/dev/tty"));
}

}  // namespace

Progress::Progress(bool speaks, bool renew, const std::string& directory)
    : speaks_(speaks), renew_(renew && on_terminal()) {
  if (!speaks) return;
  records_ = std::make_unique<io::JsonLinesWriter>(directory + "/status.jsonl");
  log_ = std::make_shared<spdlog::logger>(
      "train", std::make_shared<spdlog::sinks::basic_file_sink_st>(directory + "/train.log"));
  log_->set_pattern("%Y-%m-%d %H:%M:%S %v");
  log_->flush_on(spdlog::level::info);
}

Progress::~Progress() = default;

void Progress::note(const std::string& text) {
  if (speaks_) log_->info(text);
}

void Progress::record(nlohmann::ordered_json object) {
  if (!speaks_) return;
  object["time"] = timestamp();
  records_->append(object);
}

void Progress::line(const std::string& text) {
  if (!speaks_) return;
  if (open_line_) fmt::print("\n");
  open_line_ = false;
  fmt::print("{}\n", text);
  std::fflush(stdout);
  log_->info(text);
}

void Progress::round(std::int64_t round, std::int64_t rounds, double elbo_gain, double validation,
                     std::int64_t best_round) {
  if (!speaks_) return;
  ++done_;
  const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  const double left = elapsed / static_cast<double>(done_) * static_cast<double>(rounds - round - 1);
  std::string text =
      fmt::format("round {:>4}/{}  ELBO {}", round + 1, rounds, evaluation::number_text(elbo_gain, "{:+.4f}"));
  if (std::isfinite(validation)) text += fmt::format("  validation {:.4f}", validation);
  if (best_round >= 0) text += fmt::format("  (best: round {})", best_round + 1);
  text += fmt::format("  {} left", left < 90 ? fmt::format("{:.0f} s", left) : fmt::format("{:.1f} min", left / 60));
  if (renew_) {
    fmt::print("\r{:<100}", text);
    open_line_ = true;
  } else {
    fmt::print("{}\n", text);
  }
  std::fflush(stdout);
  log_->info(text);
}

}  // namespace fedpp::federation
