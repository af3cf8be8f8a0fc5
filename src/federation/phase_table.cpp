#include "federation/phase_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace fedpp::federation {

namespace {

constexpr double kLeast = 0.002;  // of the ranks' longest total, for a line inside a phase

/// A line of the table: what the ranks say of one path.
struct Line {
  std::vector<std::string> path;
  std::vector<double> seconds;  ///< of the ranks that know it
  std::int64_t calls = 0;       ///< most of a rank
};

/// A rank's entries as text: seconds, calls, names, by tabulators.
std::string to_text(const std::vector<gpu::ProfileEntry>& entries) {
  std::string text;
  for (const auto& e : entries) {
    text += fmt::format("{}\t{}", e.seconds, e.calls);
    for (const auto& name : e.path) text += "\t" + name;
    text += "\n";
  }
  return text;
}

void add(const std::string& text, std::vector<Line>& lines) {
  std::istringstream rows(text);
  std::size_t last = 0;  // the line before in this rank's order: a new one goes behind it
  for (std::string row; std::getline(rows, row);) {
    std::istringstream cells(row);
    std::string seconds, calls, name;
    std::vector<std::string> path;
    std::getline(cells, seconds, '\t');
    std::getline(cells, calls, '\t');
    while (std::getline(cells, name, '\t')) path.push_back(name);
    auto at = std::find_if(lines.begin(), lines.end(), [&](const Line& l) { return l.path == path; });
    if (at == lines.end())
      at = lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(std::min(last, lines.size())), {path, {}, 0});
    at->seconds.push_back(std::stod(seconds));
    at->calls = std::max<std::int64_t>(at->calls, std::stoll(calls));
    last = static_cast<std::size_t>(at - lines.begin()) + 1;
  }
}

}  // namespace

std::string phase_table(mpi::Communicator& world, const std::vector<gpu::ProfileEntry>& mine) {
  const auto texts = world.gather(to_text(mine), 0, "profile");
  if (!world.is_root()) return "";
  std::vector<Line> lines;
  for (const auto& text : texts) add(text, lines);

  const auto ranks = static_cast<double>(world.size());
  const auto most = [](const Line& l) { return *std::max_element(l.seconds.begin(), l.seconds.end()); };
  double longest = 0;
  for (const auto& l : lines)
    if (l.path.size() == 1) longest += most(l);
  std::string table = fmt::format("{:52} {:>9} {:>9} {:>9} {:>9} {:>9}\n", "seconds a rank", "min", "mean", "max",
                                  "imbalance", "calls");
  for (const auto& l : lines) {
    if (l.path.size() > 1 && most(l) < kLeast * longest) continue;
    double sum = 0;
    for (const double s : l.seconds) sum += s;
    const bool all = l.seconds.size() == texts.size();
    const double lowest = all ? *std::min_element(l.seconds.begin(), l.seconds.end()) : 0.0;
    std::string name = l.path.back();
    if (name.starts_with("fedpp::")) name = name.substr(7);
    table +=
        fmt::format("{:52} {:9.3f} {:9.3f} {:9.3f} {:9.2f} {:9}\n", std::string(2 * (l.path.size() - 1), ' ') + name,
                    lowest, sum / ranks, most(l), sum > 0 ? most(l) * ranks / sum : 1.0, l.calls);
  }
  return table;
}

}  // namespace fedpp::federation
