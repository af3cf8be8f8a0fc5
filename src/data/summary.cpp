#include "data/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>

#include "io/shown.hpp"

namespace fedpp::data {
namespace {

/// A column of numbers, under its header and that of the group that it begins or goes on.
struct Column {
  std::string_view group, header;
  std::int64_t (*count)(const ClientSummary&);
  std::size_t width = 0;
};

using S = ClientSummary;
const Column kColumns[] = {{"sequences", "train", [](const S& s) { return s.sequences[kTrain]; }},
                           {"sequences", "valid", [](const S& s) { return s.sequences[kValidation]; }},
                           {"sequences", "test", [](const S& s) { return s.sequences[kTest]; }},
                           {"events", "train", [](const S& s) { return s.events[kTrain]; }},
                           {"events", "valid", [](const S& s) { return s.events[kValidation]; }},
                           {"events", "test", [](const S& s) { return s.events[kTest]; }},
                           {"train", "times", [](const S& s) { return s.distinct[kTrain]; }}};
// Only where there are any.
const Column kLeftOut[] = {{"left out", "sequences", [](const S& s) { return s.left_out.sequences; }},
                           {"left out", "events", [](const S& s) { return s.left_out.sequence_events; }},
                           {"left out", "outside", [](const S& s) { return s.left_out.outside; }},
                           {"left out", "unseen", [](const S& s) { return s.left_out.unseen; }}};

constexpr const char* kWhyLeftOut =
    "left out: sequences of fewer than five training events, or in which no time passes, and their\n"
    "events; events outside the windows; events of types that the client does not see\n";

/// "-- events --" over the columns of each group.
std::string group_line(const std::vector<Column>& columns, std::size_t first_width) {
  std::string line(first_width, ' ');
  for (std::size_t i = 0; i < columns.size();) {
    const std::string_view group = columns[i].group;
    std::size_t width = columns[i++].width;
    for (; i < columns.size() && columns[i].group == group; ++i) width += 2 + columns[i].width;
    const bool framed = group.size() + 4 <= width;
    line +=
        framed ? fmt::format("  {:-^{}}", fmt::format(" {} ", group), width) : fmt::format("  {:>{}}", group, width);
  }
  return line + "\n";
}

}  // namespace

ClientSummary summarise(const ClientData& client) {
  ClientSummary summary;
  summary.id = client.id;
  summary.types = client.types;
  summary.left_out = client.left_out;
  for (Split split : {kTrain, kValidation, kTest}) {
    std::vector<double> times;
    for (const ClientSequence& sequence : client.sequences) {
      if (!sequence.windows[split].empty()) ++summary.sequences[split];
      times.insert(times.end(), sequence.events[split].begin(), sequence.events[split].end());
    }
    summary.events[split] = static_cast<std::int64_t>(times.size());
    std::sort(times.begin(), times.end());
    summary.distinct[split] = std::unique(times.begin(), times.end()) - times.begin();
  }
  return summary;
}

std::string summary_table(const std::vector<ClientSummary>& summaries, const std::vector<std::string>& names) {
  ClientSummary total;
  for (const ClientSummary& s : summaries) {
    for (int split = 0; split < 3; ++split) {
      total.sequences[split] += s.sequences[split];
      total.events[split] += s.events[split];
      total.distinct[split] += s.distinct[split];
    }
    total.left_out += s.left_out;
  }
  std::vector<Column> columns(std::begin(kColumns), std::end(kColumns));
  for (const Column& column : kLeftOut)
    if (column.count(total) > 0) columns.push_back(column);
  for (Column& column : columns)  // the total is the longest number
    column.width = std::max(column.header.size(), std::to_string(column.count(total)).size());
  if (columns.size() == std::size(kColumns) + 1)  // alone under its group
    columns.back().width = std::max(columns.back().width, columns.back().group.size());

  const std::string first = "client";
  std::string table = group_line(columns, first.size()) + first;
  for (const Column& column : columns) table += fmt::format("  {:>{}}", column.header, column.width);
  table += names.empty() ? "  types\n" : "  types  name\n";
  const auto add_line = [&](const std::string& client, const ClientSummary& s, const std::string& rest) {
    table += fmt::format("{:>{}}", client, first.size());
    for (const Column& column : columns) table += fmt::format("  {:>{}}", column.count(s), column.width);
    table += rest + "\n";
  };
  for (const ClientSummary& s : summaries)
    add_line(std::to_string(s.id), s,
             "  " + io::ranges({s.types.begin(), s.types.end()}) +
                 (names.empty() ? "" : "  " + io::visible(names[static_cast<std::size_t>(s.id)])));
  add_line("all", total, "");
  return table + (total.left_out != LeftOut{} ? kWhyLeftOut : "");
}

std::string unused_clients(const Plan& plan) {
  if (plan.client_names.empty() || plan.clients_of_files()) return "";
  return fmt::format("{} clients that the data files name are passed over: data.partition = \"file\" would take them",
                     plan.client_names.size());
}

}  // namespace fedpp::data
