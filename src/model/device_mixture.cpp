#include "model/device_mixture.hpp"

#include <algorithm>
#include <utility>

#include "data/realisation.hpp"

namespace fedpp::model {

namespace {

double events_of(const Client& client) { return std::max(data::events_in(client.training), client.least_events); }

std::vector<double> part(const gpu::Array<double>& device, std::size_t first, std::size_t count) {
  std::vector<double> host;
  gpu::to_host(gpu::Array<double>(Kokkos::subview(device, std::make_pair(first, first + count))), host);
  return host;
}

}  // namespace

DeviceMixture::DeviceMixture(const gpu::Exec& exec, const ClientBatch& block, const std::vector<Client*>& clients,
                             const ModelMixture& mixture) {
  std::vector<double> mean, sd, own_mean, own_sd, share, scale;
  std::vector<int> own;
  const auto append = [](std::vector<double>& all, const std::vector<double>& part) {
    all.insert(all.end(), part.begin(), part.end());
  };
  for (const auto& model : mixture.models) {
    append(mean, model.mean);
    append(sd, model.sd);
  }
  for (const Client* client : clients) {
    own.push_back(static_cast<int>(client->id));
    append(own_mean, client->state.core.mean);
    append(own_sd, client->state.core.sd);
    append(share, client->state.mixing);
    scale.push_back(1 / events_of(*client));
  }
  device_.models = static_cast<int>(mixture.models.size());
  device_.mean = gpu::to_device<double>("models_mean", mean);
  device_.sd = gpu::to_device<double>("models_sd", sd);
  device_.own = gpu::to_device<int>("own", own);
  device_.own_mean = gpu::to_device<double>("own_mean", own_mean);
  device_.own_sd = gpu::to_device<double>("own_sd", own_sd);
  device_.share = gpu::to_device<double>("share", share);
  device_.anchor = gpu::to_device<double>("anchor", mixture.anchor);
  device_.scale = gpu::to_device<double>("scale", scale);
  device_.rate = mixture.rate;
  device_.penalty = mixture.penalty;
  device_.by_mean = gpu::Array<double>("by_mean", own_mean.size());
  device_.by_sd = gpu::Array<double>("by_sd", own_mean.size());
  device_.slope = gpu::Array<double>("slope", share.size());
  gpu::mix(exec, block.batch(), block.fields(), device_);
}

void DeviceMixture::read(int k, ClientState& state) const {
  const auto models = static_cast<std::size_t>(device_.models), p = state.weights.mean.size();
  state.mixing = part(device_.share, k * models, models);
  state.core = {part(device_.own_mean, k * p, p), part(device_.own_sd, k * p, p)};
}

}  // namespace fedpp::model
