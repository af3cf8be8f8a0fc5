#include "federation/memory.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string_view>

namespace fedpp::federation {

namespace {

constexpr double kUnknown = std::numeric_limits<double>::infinity();

/// The number behind `key` at the beginning of a line ("": of the file); infinite where there is none, or a word.
double number_in(const std::string& path, std::string_view key = "") {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const char* text = line.c_str() + key.size();
    char* end = nullptr;
    const double number = std::strtod(text, &end);
    return end == text ? kUnknown : number;
  }
  return kUnknown;
}

/// The names that a version of cgroups has for its files.
struct Files {
  const char *folder, *limit, *taken, *reclaimable;
};
constexpr Files kFirstVersion{"sys/fs/cgroup/memory", "/memory.limit_in_bytes", "/memory.usage_in_bytes",
                              "total_inactive_file "};
constexpr Files kSecondVersion{"sys/fs/cgroup", "/memory.max", "/memory.current", "inactive_file "};

/// What a group and those above it leave. Files that were read and may be forgotten count as taken, and are not.
double room_in(const std::string& root, const Files& files, std::string group) {
  double room = kUnknown;
  while (true) {
    const std::string folder = root + files.folder + group;
    const double limit = number_in(folder + files.limit), taken = number_in(folder + files.taken);
    const double forgotten = number_in(folder + "/memory.stat", files.reclaimable);
    if (limit < kUnknown && taken < kUnknown)
      room = std::min(room, limit - taken + (forgotten < kUnknown ? forgotten : 0));
    if (group.empty()) return std::max(room, 0.0);
    group.resize(group.find_last_of('/'));
  }
}

}  // namespace

double resident_bytes() {
  const double kilobytes = number_in("/proc/self/status", "VmRSS:");
  return kilobytes < kUnknown ? 1024 * kilobytes : 0;
}

double available_bytes(const std::string& root) {
  double room = 1024 * number_in(root + "proc/meminfo", "MemAvailable:");
  std::ifstream groups(root + "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // as "0::/a/b", or "5:cpu,memory:/a/b"
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos || line[second + 1] != '/') continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    std::string group = line.substr(second + 1);
    if (group == "/") group = "";
    if (controllers == ",,") room = std::min(room, room_in(root, kSecondVersion, group));
    if (controllers.find(",memory,") != std::string::npos) room = std::min(room, room_in(root, kFirstVersion, group));
  }
  return room;
}

}  // namespace fedpp::federation
