// The reparameterised gradient (spec 1.6) by itself, where no step of Adam follows.
#include "gpu/kernels.hpp"

namespace fedpp::gpu {

void posterior_gradient(const Exec& exec, const Batch& b, const Fields& f, const Array<double>& by_mean,
                        const Array<double>& by_sd) {
  Kokkos::parallel_for(
      "fedpp::weights::posterior_gradient"_label, team_policy(exec, b.clients), KOKKOS_LAMBDA(const Member& member) {
        const int client = member.league_rank();
        const int p = b.parameters(client), samples = b.samples(client);
        const Index posterior = b.posterior(client), weights = b.weights(client);
        team_for(member, p, [&](Index j) {
          double mean = 0, sd = 0;
          for (int s = 0; s < samples; ++s) {
            const Index w = weights + static_cast<Index>(s) * p + j;
            mean += f.gradient(w);
            sd += f.gradient(w) * f.noise(w);
          }
          by_mean(posterior + j) = mean / samples;
          by_sd(posterior + j) = sd / samples;
        });
      });
}

}  // namespace fedpp::gpu
