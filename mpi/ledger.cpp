#include "mpi/ledger.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fedpp::mpi {

void Ledger::count(std::string_view kind, std::uint64_t bytes) {
  auto entry = entries_.find(kind);
  if (entry == entries_.end()) entry = entries_.emplace(std::string(kind), Entry{}).first;
  entry->second.calls += 1;
  entry->second.bytes += bytes;
  bytes_ += bytes;
}

std::uint64_t Ledger::end_round() {
  const std::uint64_t round = bytes_ - bytes_before_round_;
  bytes_before_round_ = bytes_;
  return round;
}

std::string Ledger::table(const Entries& entries) {
  std::size_t width = 5;  // "total"
  for (const auto& [kind, entry] : entries) width = std::max(width, kind.size());
  std::string text = fmt::format("{:<{}}  {:>12}  {:>16}\n", "kind", width, "calls", "bytes");
  Entry total;
  for (const auto& [kind, entry] : entries) {
    text += fmt::format("{:<{}}  {:>12}  {:>16}\n", kind, width, entry.calls, entry.bytes);
    total.calls += entry.calls;
    total.bytes += entry.bytes;
  }
  return text + fmt::format("{:<{}}  {:>12}  {:>16}\n", "total", width, total.calls, total.bytes);
}

}  // namespace fedpp::mpi
