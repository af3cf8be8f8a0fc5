#include "io/checkpoint_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include "io/atomic_file.hpp"
#include "io/number.hpp"

namespace fedpp::io {

namespace {

constexpr std::string_view kPrefix = "checkpoint-", kSuffix = ".h5";

std::optional<std::int64_t> round_of(std::string_view name) {
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return std::nullopt;
  const std::optional<std::int64_t> round =
      whole_number(name.substr(kPrefix.size(), name.size() - kPrefix.size() - kSuffix.size()));
  return round && checkpoint_name(*round) == name ? round : std::nullopt;
}

std::vector<std::string> names_in(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code code;
  for (std::filesystem::directory_iterator it(directory, code), end; !code && it != end; it.increment(code))
    names.push_back(it->path().filename().string());
  if (code) throw Error(fmt::format("{}: cannot read the folder: {}", directory, code.message()));
  return names;
}

void remove_file(const std::string& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT)
    throw Error(fmt::format("{}: cannot delete: {}", path, std::strerror(errno)));
}

}  // namespace

std::string checkpoint_name(std::int64_t round) { return fmt::format("{}{:06d}{}", kPrefix, round, kSuffix); }

std::optional<std::int64_t> round_in_name(const std::string& path) {
  return round_of(std::filesystem::path(path).filename().string());
}

std::vector<CheckpointEntry> list_checkpoints(const std::string& directory) {
  std::vector<CheckpointEntry> entries;
  for (const std::string& name : names_in(directory))
    if (const std::optional<std::int64_t> round = round_of(name))
      entries.push_back({*round, (std::filesystem::path(directory) / name).string()});
  std::sort(entries.begin(), entries.end(),
            [](const CheckpointEntry& a, const CheckpointEntry& b) { return a.round < b.round; });
  return entries;
}

std::optional<CheckpointEntry> newest_checkpoint(const std::string& directory) {
  const std::vector<CheckpointEntry> entries = list_checkpoints(directory);
  return entries.empty() ? std::nullopt : std::optional(entries.back());
}

std::optional<CheckpointEntry> newest_intact_checkpoint(const std::string& directory,
                                                        std::vector<std::string>* refused) {
  std::vector<CheckpointEntry> entries = list_checkpoints(directory), before;
  std::optional<CheckpointEntry> intact;
  std::vector<std::string> reasons;
  // A running job may write newer ones and prune all that were listed.
  for (; !intact && entries != before; before = std::exchange(entries, list_checkpoints(directory))) {
    reasons.clear();
    for (auto entry = entries.rbegin(); entry != entries.rend() && !intact; ++entry) {
      try {
        verify(entry->path, kCheckpoint);
        intact = *entry;
      } catch (const Error& error) {
        reasons.emplace_back(error.what());
      }
    }
  }
  if (refused) refused->insert(refused->end(), reasons.begin(), reasons.end());
  return intact;
}

std::vector<std::string> supersede_checkpoints(const std::string& directory, std::int64_t from) {
  std::vector<std::string> moved;
  for (const CheckpointEntry& entry : list_checkpoints(directory)) {
    if (entry.round < from) continue;
    std::string name = entry.path + ".superseded";
    std::error_code failed;
    for (int n = 2; std::filesystem::exists(name, failed); ++n) name = fmt::format("{}.superseded.{}", entry.path, n);
    rename_durably(entry.path, name);
    moved.push_back(name);
  }
  return moved;
}

void prune_checkpoints(const std::string& directory, std::int64_t keep) {
  const std::int64_t kept = std::max<std::int64_t>(keep, 1);
  const std::vector<CheckpointEntry> entries = list_checkpoints(directory);
  for (std::int64_t i = 0; i + kept < static_cast<std::int64_t>(entries.size()); ++i) remove_file(entries[i].path);
}

void delete_interrupted_checkpoints(const std::string& directory) {
  for (const std::string& name : names_in(directory))
    if (const auto whole = path_of_partial(name); whole && round_of(*whole))
      remove_file((std::filesystem::path(directory) / name).string());
}

}  // namespace fedpp::io
