#include "data/summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

namespace fedpp::data {
namespace {

void add_line(std::string& table, const std::string& id, const ClientSummary& s, const std::string& types) {
  fmt::format_to(std::back_inserter(table),
                 "{:>7} {:>8}/{:>6}/{:>6} {:>9}/{:>7}/{:>7} {:>9} {:>8} {:>7} {:>8} {:>7}  {}\n", id,
                 s.sequences[kTrain], s.sequences[kValidation], s.sequences[kTest], s.events[kTrain],
                 s.events[kValidation], s.events[kTest], s.distinct[kTrain], s.left_out.sequences,
                 s.left_out.sequence_events, s.left_out.outside, s.left_out.unseen, types);
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
  std::string table = fmt::format("{:>7} {:>8}/{:>6}/{:>6} {:>9}/{:>7}/{:>7} {:>9} {:>8} {:>7} {:>8} {:>7}  {}\n",
                                  "client", "seq.train", "valid", "test", "ev.train", "valid", "test", "distinct",
                                  "left out", "events", "outside", "unseen", names.empty() ? "types" : "types  name");
  ClientSummary total;
  for (const ClientSummary& s : summaries) {
    for (int split = 0; split < 3; ++split) {
      total.sequences[split] += s.sequences[split];
      total.events[split] += s.events[split];
      total.distinct[split] += s.distinct[split];
    }
    total.left_out += s.left_out;
    add_line(table, std::to_string(s.id), s,
             fmt::format("{}{}", fmt::join(s.types, ","),
                         names.empty() ? "" : "  " + names[static_cast<std::size_t>(s.id)]));
  }
  add_line(table, "all", total, "");
  return table;
}

std::string unused_clients(const Plan& plan) {
  if (plan.client_names.empty() || plan.clients_of_files()) return "";
  return fmt::format("{} clients that the data files name are passed over: data.partition = \"file\" would take them",
                     plan.client_names.size());
}

}  // namespace fedpp::data
