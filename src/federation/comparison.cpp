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

/// Takes out of all runs the clients that one of them leaves out, and returns these.
std::vector<std::int64_t> keep_clients_of_all(std::vector<FinishedRun>& runs) {
  std::set<std::int64_t> left_out_anywhere;
  for (const auto& run : runs) left_out_anywhere.insert(run.left_out.begin(), run.left_out.end());
  const std::vector<std::int64_t> left_out(left_out_anywhere.begin(), left_out_anywhere.end());
  for (const auto& run : runs) expect_same_test_data(runs.front(), run, left_out);
  for (auto& run : runs)
    std::erase_if(run.clients, [&](const auto& client) { return left_out_anywhere.contains(client.client); });
  return left_out;
}

std::string table_of_settings(const std::vector<Setting>& settings, const std::vector<std::string>& names) {
  std::vector<std::vector<std::string>> rows{{"setting"}};
  rows.front().insert(rows.front().end(), names.begin(), names.end());
  for (const auto& setting : settings) {
    rows.push_back({setting.key});
    rows.back().insert(rows.back().end(), setting.values.begin(), setting.values.end());
  }
  return "\nSettings that differ:\n" + columns(rows);
}

}  // namespace

std::string compare(std::vector<FinishedRun> runs) {
  const auto left_out = keep_clients_of_all(runs);
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
  std::vector<std::string> names;
  for (const auto& run : runs) names.push_back(run.name);
  return text + table_of_settings(settings, names);
}

namespace {

/// By federation.seed, which alone may differ beside [backend].
std::map<std::int64_t, FinishedRun> by_seed(std::vector<FinishedRun> runs) {
  for (const auto& setting : differing_settings(runs)) {
    if (setting.key == "federation.seed" || setting.key.starts_with("backend.")) continue;  // no result depends on it
    const auto other = std::ranges::find_if(setting.values, [&](const auto& v) { return v != setting.values.front(); });
    throw UserError(fmt::format(
        "{} and {} differ in {}: the runs of a side are of one configuration, but for federation.seed and [backend]",
        runs.front().name, runs[static_cast<std::size_t>(other - setting.values.begin())].name, setting.key));
  }
  std::map<std::int64_t, FinishedRun> found;
  for (auto& run : runs) {
    const auto* const seed = run.config.contains("federation") && run.config.at("federation").contains("seed")
                                 ? &run.config.at("federation").at("seed")
                                 : nullptr;
    if (seed == nullptr || !seed->is_number_integer())
      throw UserError(
          fmt::format("{}: no federation.seed in its result.json, so there is no run to set it beside", run.name));
    const auto [at, first] = found.emplace(seed->get<std::int64_t>(), run);
    if (!first)
      throw UserError(fmt::format("{} and {} have the same federation.seed, {}: name one of them", at->second.name,
                                  run.name, at->first));
  }
  return found;
}

/// "kl/1 and 4 more"
std::string side_name(const std::map<std::int64_t, FinishedRun>& runs) {
  const auto& first = runs.begin()->second.name;
  return runs.size() > 1 ? fmt::format("{} and {} more", first, runs.size() - 1) : first;
}

}  // namespace

std::string compare_over_seeds(std::vector<FinishedRun> ours, std::vector<FinishedRun> theirs) {
  const auto settings = [&] {
    auto all = differing_settings({ours.front(), theirs.front()});
    std::erase_if(all, [](const auto& setting) { return setting.key == "federation.seed"; });
    return all;
  }();
  const auto of_ours = by_seed(std::move(ours)), of_theirs = by_seed(std::move(theirs));
  const std::string a = side_name(of_ours), b = side_name(of_theirs);
  std::vector<std::vector<std::string>> rows{{"seed", a, b, "difference"}};
  std::vector<double> differences;
  std::set<std::int64_t> left_out;
  for (const auto* side : {&of_ours, &of_theirs})
    for (const auto& [seed, run] : *side)
      if (!of_ours.contains(seed) || !of_theirs.contains(seed))
        throw UserError(fmt::format(
            "{} has federation.seed = {}, which no run of the other side has: runs are paired by it", run.name, seed));
  if (of_ours.size() < 2)
    throw UserError("one seed says nothing of others: name two runs or more on each side, or leave out --against");
  for (const auto& [seed, run] : of_ours) {
    std::vector<FinishedRun> pair{run, of_theirs.at(seed)};
    const auto of_pair = keep_clients_of_all(pair);
    left_out.insert(of_pair.begin(), of_pair.end());
    const double here = evaluation::total(pair[0].clients).headline_per_event();
    const double there = evaluation::total(pair[1].clients).headline_per_event();
    differences.push_back(here - there);
    rows.push_back({std::to_string(seed), evaluation::number_text(here, "{:.4f}"),
                    evaluation::number_text(there, "{:.4f}"), evaluation::number_text(here - there, "{:+.4f}")});
  }
  const auto paired = evaluation::paired_difference(differences);
  const auto& first = of_ours.begin()->second;
  std::string text = fmt::format("Test log-likelihood per event, protocol {}, unit of time: {}, by federation.seed\n",
                                 config::word(first.protocol), first.unit) +
                     columns(rows) + "  " + evaluation::sentence_over_seeds(paired, a, b) + "\n";
  if (!left_out.empty())
    text +=
        fmt::format("  Left out of both runs of a seed, as hostile or without a score in one of them: client{} {}.\n",
                    left_out.size() == 1 ? "" : "s", fmt::join(left_out, ", "));
  return settings.empty() ? text + "\nAll settings are the same.\n" : text + table_of_settings(settings, {a, b});
}

}  // namespace fedpp::federation
