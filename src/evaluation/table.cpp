#include "evaluation/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>

namespace fedpp::evaluation {
namespace {

nlohmann::json number(double value) { return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr); }

/// On how many clients with test events `ours` has the higher headline.
int clients_above(const ModelScores& ours, const ModelScores& other) {
  assert(ours.clients.size() == other.clients.size());
  int above = 0;
  for (std::size_t c = 0; c < ours.clients.size(); ++c) {
    assert(ours.clients[c].client == other.clients[c].client);
    above += ours.clients[c].score.headline > other.clients[c].score.headline ? 1 : 0;
  }
  return above;
}

/// The model from index `first` on with the highest finite headline.
std::optional<std::size_t> best_from(const ScoreTable& table, std::size_t first) {
  std::optional<std::size_t> best;
  double best_headline = 0;
  for (std::size_t m = first; m < table.models.size(); ++m) {
    const double headline = total(table.models[m].clients).headline_per_event();
    if (std::isfinite(headline) && (!best || headline > best_headline)) best = m, best_headline = headline;
  }
  return best;
}

/// Whether ours is above every trivial model.
std::string verdict(const ScoreTable& table) {
  const ModelScores& ours = table.models.front();
  const double headline = total(ours.clients).headline_per_event();
  if (!std::isfinite(headline)) return fmt::format("  {} has no finite score: nothing can be said of it.\n", ours.name);
  const auto rival = best_from(table, 1);
  if (!rival) return "  No trivial model has a finite score.\n";
  const ModelScores& other = table.models[*rival];
  const double difference = headline - total(other.clients).headline_per_event();
  return winner(table) == 0u ? fmt::format("  {} is above every trivial model (by {:.4f} over {}).\n", ours.name,
                                           difference, other.name)
                             : fmt::format("  {} is below {} by {:.4f}.\n", ours.name, other.name, -difference);
}

}  // namespace

void leave_out(ScoreTable& table, const std::vector<std::int64_t>& clients) {
  for (ModelScores& model : table.models)
    for (ClientScore& client : model.clients)
      if (std::find(clients.begin(), clients.end(), client.client) != clients.end()) client.score = {};
}

std::optional<std::size_t> winner(const ScoreTable& table) { return best_from(table, 0); }

std::string to_text(const ScoreTable& table) {
  const ModelScores& ours = table.models.at(0);
  const auto best = winner(table);
  std::size_t width = 5;
  for (const ModelScores& model : table.models) width = std::max(width, model.name.size());

  std::string text =
      fmt::format("Test log-likelihood per event, protocol {}, unit of time: {} ({:.0f} events, {} clients)\n",
                  protocol_name(table.protocol), table.unit, total(ours.clients).events, ours.clients.size());
  const std::string rule = fmt::format("  {:-<{}}\n", "", width + 48);
  text += rule +
          fmt::format("  {:<{}}  {:>10}  {:>10}  {:>20}\n", "model", width, "headline", "plug-in",
                      "clients ours is above") +
          rule;
  for (std::size_t m = 0; m < table.models.size(); ++m) {
    const ModelScores& model = table.models[m];
    const Score sum = total(model.clients);
    const std::string above = m == 0 ? "" : fmt::format("{} of {}", clients_above(ours, model), ours.clients.size());
    text += fmt::format("  {:<{}}  {:>10.4f}  {:>10.4f}  {:>21}{}\n", model.name, width, sum.headline_per_event(),
                        sum.plug_in_per_event(), above, m == best ? "  <- best" : "");
  }
  text += rule;
  if (table.models.size() > 1) text += verdict(table);
  return text;
}

nlohmann::json to_json(const ScoreTable& table) {
  const auto best = winner(table);
  nlohmann::json models = nlohmann::json::array();
  for (const ModelScores& model : table.models) {
    nlohmann::json clients = nlohmann::json::array();
    for (const ClientScore& client : model.clients) {
      clients.push_back({{"client", client.client},
                         {"headline", number(client.score.headline_per_event())},
                         {"plug_in", number(client.score.plug_in_per_event())},
                         {"events", client.score.events}});
    }
    const Score sum = total(model.clients);
    models.push_back({{"name", model.name},
                      {"headline", number(sum.headline_per_event())},
                      {"plug_in", number(sum.plug_in_per_event())},
                      {"per_client", std::move(clients)}});
  }
  return {{"protocol", protocol_name(table.protocol)},
          {"unit", table.unit},
          {"events", total(table.models.at(0).clients).events},
          {"winner", best ? nlohmann::json(table.models[*best].name) : nlohmann::json(nullptr)},
          {"models", std::move(models)}};
}

}  // namespace fedpp::evaluation
