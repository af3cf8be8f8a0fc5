#include "evaluation/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "config/counted.hpp"
#include "evaluation/number_text.hpp"

namespace fedpp::evaluation {
namespace {

nlohmann::json number(double value) { return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr); }

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

nlohmann::json to_json(const Verdict& verdict) {
  const auto& paired = verdict.paired;
  return {{"outcome", paired.outcome()},
          {"rival", verdict.rival},
          {"difference", number(paired.difference)},
          {"standard_error", number(paired.standard_error)},
          {"clients", paired.clients},
          {"effective_clients", paired.effective},
          {"text", verdict.text}};
}

}  // namespace

void leave_out(ScoreTable& table, const std::vector<std::int64_t>& clients) {
  for (ModelScores& model : table.models)
    for (ClientScore& client : model.clients)
      if (std::find(clients.begin(), clients.end(), client.client) != clients.end()) client.score = {};
}

ScoreTable without(ScoreTable table, const std::vector<std::int64_t>& clients) {
  for (ModelScores& model : table.models)
    std::erase_if(model.clients, [&](const ClientScore& client) {
      return std::find(clients.begin(), clients.end(), client.client) != clients.end();
    });
  return table;
}

std::optional<std::size_t> winner(const ScoreTable& table) { return best_from(table, 0); }

Verdict verdict(const ScoreTable& table) {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  const ModelScores& ours = table.models.at(0);
  Verdict v{"", {kUnknown, kUnknown, 0, 0, table.shared, 0}, ""};
  const auto rival = best_from(table, 1);
  if (!std::isfinite(total(ours.clients).headline_per_event())) {
    v.text = total(ours.clients).events > 0
                 ? fmt::format("{} has no finite score: nothing can be said of it.", ours.name)
                 : "No test event is scored, so that no score per event compares the models.";
    return v;
  }
  if (!rival) {
    v.text = "No trivial model has a finite score.";
    return v;
  }
  const ModelScores& other = table.models[*rival];
  v.rival = other.name;
  v.paired = paired_difference(ours.clients, other.clients, table.shared);
  v.text = sentence(v.paired, ours.name, other.name + ", the best trivial model");
  return v;
}

std::string to_text(const ScoreTable& table) {
  const ModelScores& ours = table.models.at(0);
  const auto best = winner(table);
  std::size_t width = 5;
  for (const ModelScores& model : table.models) width = std::max(width, model.name.size());

  std::string text = fmt::format("Test log-likelihood per event, protocol {}, unit of time: {} ({}, {})\n",
                                 config::word(table.protocol), table.unit,
                                 config::counted(std::llround(total(ours.clients).events), "event"),
                                 config::counted(static_cast<std::int64_t>(ours.clients.size()), "client"));
  const std::string rule = fmt::format("  {:-<{}}\n", "", width + 48);
  text += rule +
          fmt::format("  {:<{}}  {:>10}  {:>10}  {:>20}\n", "model", width, "headline", "plug-in",
                      "clients ours is above") +
          rule;
  for (std::size_t m = 0; m < table.models.size(); ++m) {
    const ModelScores& model = table.models[m];
    const Score sum = total(model.clients);
    const auto paired = paired_difference(ours.clients, model.clients);
    const std::string above =
        m == 0 || std::isnan(sum.headline_per_event()) ? "" : fmt::format("{} of {}", paired.above, paired.clients);
    text += fmt::format("  {:<{}}  {:>10}  {:>10}  {:>21}{}\n", model.name, width,
                        number_text(sum.headline_per_event(), "{:.4f}"), number_text(sum.plug_in_per_event(), "{:.4f}"),
                        above, m == best ? "  <- best" : "");
  }
  text += rule;
  if (table.models.size() > 1) text += "  " + verdict(table).text + "\n";
  return text;
}

nlohmann::json to_json(const ScoreTable& table) {
  const auto best = winner(table);
  nlohmann::json models = nlohmann::json::array();
  for (const ModelScores& model : table.models) {
    nlohmann::json clients = nlohmann::json::array();
    for (const auto& [client, score] : model.clients) {
      const bool scored = score.events > 0 || score.headline != 0;  // 0 nats would beat every client that is
      clients.push_back({{"client", client},
                         {"headline", number(score.headline_per_event())},
                         {"plug_in", number(score.plug_in_per_event())},
                         {"events", score.events},
                         {"log_likelihood", scored ? number(score.headline) : nlohmann::json(nullptr)}});
    }
    const Score sum = total(model.clients);
    models.push_back({{"name", model.name},
                      {"headline", number(sum.headline_per_event())},
                      {"plug_in", number(sum.plug_in_per_event())},
                      {"per_client", std::move(clients)}});
  }
  nlohmann::json json = {{"protocol", config::word(table.protocol)},
                         {"unit", table.unit},
                         {"events", total(table.models.at(0).clients).events},
                         {"winner", best ? nlohmann::json(table.models[*best].name) : nlohmann::json(nullptr)},
                         {"models", std::move(models)}};
  if (table.shared) json["shared"] = true;
  if (table.models.size() > 1) json["verdict"] = to_json(verdict(table));
  return json;
}

}  // namespace fedpp::evaluation
