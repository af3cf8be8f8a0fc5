#include "model/host_batch.hpp"

#include <algorithm>
#include <cassert>

#include "gpu/batch.hpp"

namespace fedpp::model {

namespace {

/// Collects what the encoder sees of one realisation.
class Observer {
 public:
  Observer(const Inputs& inputs, const data::Realisation& realisation, SeenPoints& seen)
      : inputs_(inputs), streams_(realisation.streams), seen_(seen) {
    int slot_of_stream = 0;
    for (const auto& stream : streams_) {
      first_slot_.push_back(slot_of_stream);
      slot_of_stream += static_cast<int>(stream.times.size()) + 1;
      for (std::size_t j = 0; j < stream.times.size(); ++j)
        add(stream.times[j], stream.times[j] - (j > 0 ? stream.times[j - 1] : stream.start), seen_.token_input);
      seen_.token_type.insert(seen_.token_type.end(), stream.types.begin(), stream.types.end());
    }
  }
  /// A point at t, where it stands in its history (nullptr: the encoder reads none).
  void column(double t, const data::HistoryPosition* position) { point(t, position, seen_.input, seen_.slot); }
  void inducing(double t, const data::HistoryPosition* position) {
    point(t, position, seen_.inducing_input, seen_.inducing_slot);
  }

 private:
  void point(double t, const data::HistoryPosition* position, std::vector<double>& input, std::vector<int>& slot) {
    if (position == nullptr) {
      add(t, 0, input);
      slot.push_back(0);
      return;
    }
    const auto& stream = streams_[position->stream];
    add(t, t - (position->before > 0 ? stream.times[position->before - 1] : stream.start), input);
    slot.push_back(first_slot_[position->stream] + position->before);
  }
  void add(double t, double gap, std::vector<double>& to) const {
    to.resize(to.size() + inputs_.count());
    inputs_.at(t, std::max(gap, 0.0), to.data() + to.size() - inputs_.count());
  }

  const Inputs& inputs_;
  const std::vector<data::Stream>& streams_;
  SeenPoints& seen_;
  std::vector<int> first_slot_;
};

void add_realisation(HostBatch& batch, const Client& client, const data::Realisation& r, const InducingPoints& z,
                     bool spread) {
  const bool history = client.embedding.reads_history();
  assert(!history || !r.streams.empty());
  Observer observer(client.embedding.inputs, r, batch.seen);
  const std::size_t events = r.events.size();
  for (const int j : column_order(static_cast<int>(events + r.nodes.size()), spread)) {
    const bool event = static_cast<std::size_t>(j) < events;
    const std::size_t q = j - events;
    observer.column(event ? r.events[j] : r.nodes[q],
                    !history ? nullptr : (event ? &r.event_history[j] : &r.node_history[q]));
    batch.multiplicity.push_back(event ? r.multiplicities[j] : 0);
    batch.node_weight.push_back(event ? 0 : r.node_weights[q]);
  }
  for (std::size_t j = 0; j < z.times.size(); ++j) observer.inducing(z.times[j], history ? &z.histories[j] : nullptr);
}

}  // namespace

std::vector<int> column_order(int columns, bool spread) {
  std::vector<int> order;
  order.reserve(columns);
  const int tiles = spread ? std::max(1, (columns + gpu::tile_columns() - 1) / gpu::tile_columns()) : 1;
  for (int first = 0; first < tiles; ++first)
    for (int j = first; j < columns; j += tiles) order.push_back(j);
  return order;
}

HostBatch host_batch(const std::vector<ClientPoints>& clients, const BatchOptions& options) {
  HostBatch batch;
  for (const auto& points : clients) {
    const auto& [client, realisations] = points;
    assert(realisations->size() == client->inducing.size());
    const auto extents = extents_of(points, static_cast<int>(batch.clients.size()));
    batch.realisations.insert(batch.realisations.end(), extents.begin(), extents.end());
    batch.clients.push_back({options.samples, client->embedding.encoder, options.precision});
    for (std::size_t i = 0; i < realisations->size(); ++i)
      add_realisation(batch, *client, (*realisations)[i], client->inducing[i], options.spread);
    batch.least_events.push_back(client->least_events);
    batch.ids.push_back(client->id);
  }
  return batch;
}

}  // namespace fedpp::model
