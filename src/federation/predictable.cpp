#include "federation/predictable.hpp"

#include <fmt/format.h>

#include <set>

#include "config/error.hpp"
#include "federation/stop_signal.hpp"
#include "model/latent_posterior.hpp"
#include "mpi/turns.hpp"

namespace fedpp::federation {

std::vector<std::int64_t> for_predictable(Session& session, const std::vector<std::int64_t>& clients,
                                          Unpredictable unpredictable, Progress& progress,
                                          const std::function<void(std::int64_t)>& predict) {
  std::set<std::int64_t> failed;
  mpi::together(session.world(), [&] {
    for (const auto c : clients) {
      if (!session.owns(c)) continue;
      stop_if_asked();
      try {
        predict(c);
      } catch (const model::PredictionError& error) {
        if (unpredictable == Unpredictable::kRefused)
          throw UserError(fmt::format("{}: leave client {} out of --clients", error.what(), c));
        failed.insert(c);
      }
      progress.step();
    }
  });
  std::vector<double> mine;
  for (const auto& client : session.owned()) mine.push_back(failed.contains(client.data.id) ? 1 : 0);
  const auto all = session.share(mine, "scores");
  std::vector<std::int64_t> left_out;
  for (std::int64_t c = 0; c < session.clients(); ++c)
    if (all[static_cast<std::size_t>(c)] > 0) left_out.push_back(c);
  return left_out;
}

}  // namespace fedpp::federation
