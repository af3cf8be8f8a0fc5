// The final table of scores: our model beside the trivial ones, for the terminal and for result.json.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "evaluation/paired_difference.hpp"
#include "evaluation/score.hpp"

namespace fedpp::evaluation {

/// One model's scores on every client.
struct ModelScores {
  std::string name;
  std::vector<ClientScore> clients;
};

/// One protocol's table. The first model is ours; the others are the trivial ones, on the same clients and events.
struct ScoreTable {
  Protocol protocol = Protocol::kChronological;
  std::string unit;  ///< of time: scores per test event shift by a constant with it
  std::vector<ModelScores> models;
  bool shared = false;  ///< clients may hold the same sequences: nothing was dealt
};

/// Takes clients that ours cannot score out of every model's sums: all models are of the same events.
void leave_out(ScoreTable& table, const std::vector<std::int64_t>& clients);

/// The table of the other clients.
ScoreTable without(ScoreTable table, const std::vector<std::int64_t>& clients);

/// Index of the model with the highest headline score over all clients' events; only finite scores can win.
std::optional<std::size_t> winner(const ScoreTable& table);

/// Ours against the trivial model with the highest headline.
struct Verdict {
  std::string rival;        ///< "" where nothing can be said
  PairedDifference paired;  ///< of ours from the rival
  std::string text;         ///< a sentence
};
Verdict verdict(const ScoreTable& table);

/// A table for the terminal: headline and plug-in per test event over all clients, on how many clients ours is above
/// each other, the winner marked, protocol and unit said, and last the verdict.
std::string to_text(const ScoreTable& table);

/// {protocol, unit, events, winner,
/// verdict: {outcome, rival, difference, standard_error, clients, effective_clients, text},
/// models: [{name, headline, plug_in, per_client: [{client, headline, plug_in, events, log_likelihood}]}]}, scores per
/// test event; a client without test events, or left out, has null; log_likelihood is the headline's sum in nats, of
/// windows without events, too, and null of a client that is left out or has no windows. Without trivial models there
/// is no verdict; "shared": true says that clients may hold the same sequences.
nlohmann::json to_json(const ScoreTable& table);

}  // namespace fedpp::evaluation
