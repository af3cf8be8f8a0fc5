#include "federation/community_barycentres.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <optional>
#include <span>

#include "federation/barycentre_rules.hpp"
#include "mpi/exact_reduce.hpp"
#include "mpi/turns.hpp"

namespace fedpp::federation {

namespace {

constexpr std::size_t kBlockWords = std::size_t{1} << 22;  // 32 MiB of sums at a time

constexpr double kLeastSpread = 1e-9;  // of the totals, which two words hold to a double's last digits

using Posteriors = std::map<std::int64_t, model::WeightPosterior>;

/// From totals around a point near the uploads; nothing where a spread is lost in them.
std::optional<model::WeightPosterior> barycentre(Divergence rule, const mpi::ExactSums& totals, std::size_t first,
                                                 const Gaussian& around) {
  const std::size_t parameters = around.mean.size();
  model::WeightPosterior result{std::vector<double>(parameters), std::vector<double>(parameters)};
  for (std::size_t p = 0; p < parameters; ++p) {
    result.mean[p] = totals.value(first + p);
    double spread = totals.value(first + parameters + p);
    const double shift = result.mean[p] - around.mean[p];
    const bool cancels = is_centred(rule) && recentre(spread, shift, kLeastSpread);
    if (cancels || !(spread > 0)) return std::nullopt;
    result.sd[p] = sd_of(rule, spread);
  }
  return result;
}

/// Positions in `communities`, by owner, then client: each rank's share of the sums is in one piece.
std::vector<std::size_t> by_owner(const Communities& communities, const Owner& owner) {
  std::vector<std::size_t> order(communities.clients.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return owner(communities.clients[a]) < owner(communities.clients[b]);
  });
  return order;
}

/// Whether no other client's upload counts for the one at position u.
bool is_alone(const Communities& communities, std::size_t u) {
  const std::size_t k = communities.clients.size();
  for (std::size_t v = 0; v < k; ++v)
    if (v != u && communities.alpha[u * k + v] > 0) return false;
  return true;
}

/// Collective. The barycentres of this rank's clients in the rules of closed form; `lost`: [clients] is set on every
/// rank where a spread is lost in the sums.
Posteriors scattered(mpi::Communicator& world, const Owner& owner, const Communities& communities,
                     const KeptUploads& uploads, const Gaussian& around, Divergence rule,
                     std::vector<std::int64_t>& lost) {
  // As many clients as the graph has add to a sum, not a round's participants, for whom an upload was accepted: two
  // words have room for all. kl's deviations from `around` may be large beside a community's spread, too.
  const auto format = mpi::FixedPoint::two_words();
  const std::size_t k = communities.clients.size(), parameters = around.mean.size();
  const auto order = by_owner(communities, owner);
  const std::size_t in_block = std::max<std::size_t>(1, kBlockWords / (2 * parameters * format.words));
  Posteriors result;
  for (std::size_t begin = 0; begin < k; begin += in_block) {
    const std::size_t end = std::min(begin + in_block, k);
    // sums: [clients of the block][2][P], contributions of this rank's uploads -> [own clients of the block][2][P]
    mpi::ExactSums sums((end - begin) * 2 * parameters, format, k);
    mpi::together(world, [&] {
      for (std::size_t v = 0; v < k; ++v) {
        const auto upload = uploads.find(communities.clients[v]);
        if (upload == uploads.end()) continue;
        const auto& q = upload->second.posterior;
        for (std::size_t b = begin; b < end; ++b) {
          const double alpha = communities.alpha[order[b] * k + v];
          if (!(alpha > 0)) continue;
          const std::size_t first = (b - begin) * 2 * parameters;
          for (std::size_t p = 0; p < parameters; ++p) {
            sums.add(first + p, alpha * q.mean[p]);
            sums.add(first + parameters + p, alpha * spread_of(rule, q.mean[p], q.sd[p], around.mean[p]));
          }
        }
      }
    });
    std::vector<std::size_t> shares(world.size(), 0);
    std::vector<std::size_t> mine;
    for (std::size_t b = begin; b < end; ++b) {
      const int rank = owner(communities.clients[order[b]]);
      shares[rank] += 2 * parameters;
      if (rank == world.rank()) mine.push_back(order[b]);
    }
    const auto totals = mpi::reduce_scatter(world, sums, shares, "reduce communities");
    for (std::size_t i = 0; i < mine.size(); ++i) {
      const auto client = communities.clients[mine[i]];
      if (auto found = barycentre(rule, totals, i * 2 * parameters, around))
        result[client] = std::move(*found);
      else if (is_alone(communities, mine[i]))
        result[client] = uploads.at(client).posterior;
      else
        lost[mine[i]] = 1;
    }
  }
  world.allreduce(std::span(lost), mpi::Op::max, "lost spreads");
  return result;
}

/// Collective. Adds the barycentres of those of this rank's clients that are `asked` for, [clients] the same on all
/// ranks, client by client with as many sums as the rule takes.
void one_by_one(mpi::Communicator& world, const Owner& owner, const Communities& communities,
                const KeptUploads& uploads, const Gaussian& around, const AggregatorOptions& options,
                const std::vector<std::int64_t>& asked, Posteriors& result) {
  const std::size_t k = communities.clients.size();
  const Aggregator aggregator(options, world);
  for (std::size_t u = 0; u < k; ++u) {
    if (!asked[u]) continue;
    std::vector<AcceptedUploads::Weighted> mine;
    std::uint64_t members = 0;
    for (std::size_t v = 0; v < k; ++v) {
      const double alpha = communities.alpha[u * k + v];
      if (!(alpha > 0)) continue;
      ++members;
      if (const auto upload = uploads.find(communities.clients[v]); upload != uploads.end()) {
        const auto& q = upload->second.posterior;
        mine.push_back({{communities.clients[v], alpha, q.mean, q.sd}, alpha});
      }
    }
    auto theta = aggregator.barycentre(around, AcceptedUploads(world, std::move(mine), members)).theta;
    if (owner(communities.clients[u]) == world.rank()) result[communities.clients[u]] = std::move(theta);
  }
}

}  // namespace

Posteriors community_barycentres(mpi::Communicator& world, const Owner& owner, const Communities& communities,
                                 const KeptUploads& uploads, const Gaussian& around, const AggregatorOptions& options) {
  const bool iterates = options.rule == Divergence::kMmd;
  std::vector<std::int64_t> asked(communities.clients.size(), iterates ? 1 : 0);
  Posteriors result;
  if (!iterates) result = scattered(world, owner, communities, uploads, around, options.rule, asked);
  AggregatorOptions of_one = options;
  of_one.format = mpi::FixedPoint::two_words();
  one_by_one(world, owner, communities, uploads, around, of_one, asked, result);
  return result;
}

}  // namespace fedpp::federation
