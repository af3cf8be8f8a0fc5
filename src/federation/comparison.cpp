#include "federation/comparison.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "config/counted.hpp"
#include "config/error.hpp"
#include "evaluation/number_text.hpp"
#include "evaluation/paired_difference.hpp"
#include "io/shown.hpp"

namespace fedpp::federation {
namespace {

using config::counted;
using nlohmann::ordered_json;

struct Setting {
  std::string key;
  std::vector<std::string> values;  ///< of each run
};

/// The keys whose values are not alike, [output] excepted: where results lie makes no difference to them.
std::vector<Setting> differing_settings(const std::vector<FinishedRun>& runs) {
  std::vector<std::pair<std::string, std::string>> keys;  // in the order of their first appearance
  for (const auto& run : runs)
    for (const auto& [section, values] : run.config.items())
      for (const auto& [key, value] : values.items())
        if (const std::pair name(section, key); std::find(keys.begin(), keys.end(), name) == keys.end())
          keys.push_back(name);
  std::vector<Setting> settings;
  for (const auto& [section, key] : keys) {
    Setting setting{io::visible(section + "." + key), {}};
    for (const auto& run : runs) {
      const bool known = run.config.contains(section) && run.config.at(section).contains(key);
      setting.values.push_back(known ? io::visible(run.config.at(section).at(key).dump()) : "-");
    }
    if (section != "output" && std::set(setting.values.begin(), setting.values.end()).size() > 1)
      settings.push_back(setting);
  }
  return settings;
}

/// "; data.split_at = "event" in a, "halfway" in b": what may be why the data are not the same.
std::string differing_data(const FinishedRun& a, const FinishedRun& b) {
  std::string text;
  for (const auto& setting : differing_settings({a, b}))
    if (setting.key.starts_with("data."))
      text +=
          fmt::format("; {} = {} in {}, {} in {}", setting.key, setting.values[0], a.name, setting.values[1], b.name);
  return text;
}

void expect_same_test_data(const FinishedRun& a, const FinishedRun& b, const std::vector<std::int64_t>& left_out) {
  const auto refuse = [&](const std::string& why) {
    throw UserError(fmt::format("{} and {} are not scored on the same test data, so their scores do not compare: {}{}",
                                a.name, b.name, why, differing_data(a, b)));
  };
  if (a.protocol != b.protocol)
    refuse(fmt::format("protocol {} and protocol {}", config::word(a.protocol), config::word(b.protocol)));
  if (a.clients.size() != b.clients.size())
    refuse(fmt::format("{} and {} clients", a.clients.size(), b.clients.size()));
  for (std::size_t c = 0; c < a.clients.size(); ++c) {
    const double here = a.clients[c].score.events, there = b.clients[c].score.events;
    const bool counts = std::find(left_out.begin(), left_out.end(), a.clients[c].client) == left_out.end();
    if (counts && here != there)
      refuse(fmt::format("client {} has {} and {} test events", a.clients[c].client, here, there));
  }
  if (a.test_data != b.test_data) refuse("as many test events, but not the same ones, or in other windows");
}

template <class T>
std::string text_or_dash(const std::optional<T>& value, const char* format) {
  return value ? fmt::format(fmt::runtime(format), *value) : "-";
}

/// A head and rows between rules: columns as wide as their longest entry, the first to the left, the others to the
/// right.
std::string columns(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths(rows[0].size(), 0);
  for (const auto& row : rows)
    for (std::size_t j = 0; j < row.size(); ++j) widths[j] = std::max(widths[j], row[j].size());
  std::size_t all = 0;
  for (const auto width : widths) all += width + 2;
  const std::string rule = "  " + std::string(all - 2, '-') + "\n";
  std::string text = rule;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t j = 0; j < row.size(); ++j)
      line += j == 0 ? fmt::format("  {:<{}}", row[j], widths[j]) : fmt::format("  {:>{}}", row[j], widths[j]);
    text += line + "\n" + (&row == &rows.front() ? rule : "");
  }
  return text + rule;
}

}  // namespace

std::string compare(std::vector<FinishedRun> runs) {
  std::set<std::int64_t> left_out_anywhere;
  for (const auto& run : runs) left_out_anywhere.insert(run.left_out.begin(), run.left_out.end());
  const std::vector<std::int64_t> left_out(left_out_anywhere.begin(), left_out_anywhere.end());
  for (const auto& run : runs) expect_same_test_data(runs.front(), run, left_out);
  for (auto& run : runs)
    std::erase_if(run.clients, [&](const auto& client) { return left_out_anywhere.contains(client.client); });

  const auto& first = runs.front();
  std::vector<std::vector<std::string>> rows{
      {"run", "headline", "difference", "standard error", "clients above", "KS", "scored round", "rounds", "seconds"}};
  std::string sentences;
  for (const auto& run : runs) {
    const auto paired = evaluation::paired_difference(run.clients, first.clients, first.shared);
    const bool is_first = &run == &first;
    rows.push_back({run.name, evaluation::number_text(evaluation::total(run.clients).headline_per_event(), "{:.4f}"),
                    is_first ? "" : evaluation::number_text(paired.difference, "{:+.4f}"),
                    is_first ? "" : evaluation::number_text(paired.standard_error, "{:.4f}"),
                    is_first ? "" : fmt::format("{} of {}", paired.above, paired.clients),
                    text_or_dash(run.ks, "{:.4f}"), text_or_dash(run.scored_round, "{}"),
                    text_or_dash(run.rounds, "{}"), text_or_dash(run.seconds, "{:.1f}")});
    if (!is_first) sentences += "  " + evaluation::sentence(paired, run.name, first.name) + "\n";
  }
  std::string text = fmt::format("Test log-likelihood per event, protocol {}, unit of time: {} ({}, {})\n",
                                 config::word(first.protocol), first.unit,
                                 counted(std::llround(evaluation::total(first.clients).events), "event"),
                                 counted(static_cast<std::int64_t>(first.clients.size()), "client"));
  text += columns(rows) + sentences;
  if (!left_out.empty())
    text += fmt::format(
        "  Left out of all runs, as hostile or without a score in one of them: client{} {}. KS is of "
        "all clients that are not hostile in the run itself.\n",
        left_out.size() == 1 ? "" : "s", fmt::join(left_out, ", "));

  const auto settings = differing_settings(runs);
  if (settings.empty()) return text + "\nAll settings are the same.\n";
  rows = {{"setting"}};
  for (const auto& run : runs) rows.front().push_back(run.name);
  for (const auto& setting : settings) {
    rows.push_back({setting.key});
    rows.back().insert(rows.back().end(), setting.values.begin(), setting.values.end());
  }
  return text + "\nSettings that differ:\n" + columns(rows);
}

}  // namespace fedpp::federation
