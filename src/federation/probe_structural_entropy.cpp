#include "federation/probe_structural_entropy.hpp"

#include "structural_entropy/community_weights.hpp"

namespace fedpp::federation {

CommunitiesAnswer communities_answer(const ProbeInput& in) {
  const auto similarity = in.matrix("similarity");
  const std::size_t clients = similarity.rows;
  if (similarity.columns != clients)
    in.reject("similarity", fmt::format("is {} x {}: it must be square", clients, similarity.columns));
  try {
    const structural_entropy::WeightedGraph graph(similarity.values, clients);
    CommunitiesAnswer answer;
    answer.partition = structural_entropy::minimise(graph);
    answer.entropy = structural_entropy::entropy(graph, answer.partition);
    answer.weight = structural_entropy::community_weights(similarity.values, answer.partition);
    return answer;
  } catch (const std::invalid_argument& error) {
    in.reject("similarity", error.what());
  }
}

void write_communities(const CommunitiesAnswer& answer, io::Group& out) {
  const auto clients = static_cast<std::uint64_t>(answer.partition.size());
  out.write("partition", answer.partition);
  out.write_scalar("entropy", answer.entropy);
  out.write("weight", std::span<const double>(answer.weight), {clients, clients});
}

}  // namespace fedpp::federation
