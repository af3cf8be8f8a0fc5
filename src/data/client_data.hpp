// What a client holds: its sequences cut into training, validation and test (raw, in the file's unit of time), and the
// realisations made of them (on the model's clock). Plain host data; no other layer's types.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace fedpp::data {

/// An observation window, start < end, in the unit of the clock it is on.
struct Interval {
  double start, end;
};

enum Split : int { kTrain = 0, kValidation = 1, kTest = 2 };

/// One sequence as one client sees it (only the client's types), cut into splits. File unit of time.
struct ClientSequence {
  std::int64_t id = 0;                           ///< the file's sequence number (unique in its file only)
  std::string name;                              ///< the file's name of it, or ""
  int source = 0;                                ///< its file: index into Plan::sources
  double origin = 0;                             ///< zero of the elapsed clock: the start of its observation
  std::vector<double> times;                     ///< everything seen, increasing, ties legal: the history
  std::vector<int> history_types;                ///< [times] their types
  std::array<std::vector<double>, 3> events;     ///< events counted in each split (the conditioned first one in none)
  std::array<std::vector<Interval>, 3> windows;  ///< where each split is observed, disjoint and increasing
  int fold = -1;                                 ///< 'population': 0..4, fold of a training list; -1 for any other
};

/// What of the files a client does not use, and why.
struct LeftOut {
  std::int64_t sequences = 0;        ///< with fewer than five training events of the client's types, and `timeless`
  std::int64_t timeless = 0;         ///< sequences of several events, all at one time: no time passes in them
  std::int64_t sequence_events = 0;  ///< events of those sequences
  std::int64_t outside = 0;          ///< events outside their windows or the common window, or before 'drop_before'
  std::int64_t unseen = 0;           ///< events of types that the client does not see, in sequences that it holds

  LeftOut& operator+=(const LeftOut& o) {
    sequences += o.sequences;
    timeless += o.timeless;
    sequence_events += o.sequence_events;
    outside += o.outside;
    unseen += o.unseen;
    return *this;
  }
  bool operator==(const LeftOut&) const = default;
};

/// Types of event. Copies share one list: it may have a million types, and be that of every client.
class TypeList {
 public:
  TypeList(std::vector<int> types = {}) : types_(std::make_shared<const std::vector<int>>(std::move(types))) {}
  auto begin() const { return types_->begin(); }
  auto end() const { return types_->end(); }
  std::size_t size() const { return types_->size(); }
  int operator[](std::size_t i) const { return (*types_)[i]; }
  bool operator==(const TypeList& o) const { return *types_ == *o.types_; }

 private:
  std::shared_ptr<const std::vector<int>> types_;
};

/// A client's private data.
struct ClientData {
  std::int64_t id = 0;  ///< global client number
  TypeList types;       ///< the types it sees
  std::vector<ClientSequence> sequences;
  LeftOut left_out;
  double tempering = 1.0;  ///< tau: power of its likelihood while the kernel is learned
};

/// The map between file time and the model's clock: model = (file - origin) * scale, where the origin is the sequence's
/// own on the elapsed clock and common on the calendar clock. Log-intensities per file unit are log(model) +
/// log(scale).
struct Clock {
  bool elapsed = true;
  double origin = 0;    ///< calendar only
  double scale = 1;     ///< model units per file unit; the longest duration becomes T
  double window = 100;  ///< T
};

/// The events that history encoders see of one sequence, on the model's clock.
struct Stream {
  double start = 0;           ///< of its observation: before the first token, gaps are counted from here
  std::vector<double> times;  ///< tokens, increasing, ties legal
  std::vector<int> types;
};

/// Where a point stands in the history: after the first `before` tokens of a stream.
struct HistoryPosition {
  int stream = 0;
  int before = 0;
};

/// How many events of a type a distinct event time holds.
struct EventMark {
  int event = 0;     ///< index into Realisation::events
  int type = 0;      ///< of the file
  double count = 0;  ///< >= 1, times tau for training; those of an event add up to its multiplicity
};

/// A step function of time: level[j] on [edges[j], edges[j+1]); zero outside. Neighbouring levels differ.
struct StepFunction {
  std::vector<double> edges;   ///< [J+1] increasing, or empty
  std::vector<double> levels;  ///< [J]
  /// Integral over the line.
  double integral() const;
};

/// One latent function's points (theory 1.1), on the model's clock. Used for training (multiplicities and weights may
/// be tempered) and for scoring held-out windows (never tempered).
struct Realisation {
  std::vector<double> events;          ///< [N] distinct times, increasing
  std::vector<double> multiplicities;  ///< [N] n_i >= 1 (1.9), times tau for training
  std::vector<double>
      log_offsets;  ///< [N] added to E[log lambda] in a score: log(scale) of the clock, and in 'population',
                    ///<     where the superposition is scored, log e(t_i); never tempered
  std::vector<EventMark> marks;  ///< of the events, in their order; only where RealisationRules::marked asks for them
  std::vector<double> nodes;     ///< [Q]
  std::vector<double> node_weights;  ///< [Q] omega_q: quadrature weight times exposure, times tau for training
  Interval span{0, 0};               ///< hull of its windows
  StepFunction exposure;             ///< e(t) in these weights before tempering; empty with a history encoder
  // With a history encoder: events and nodes ordered by stream, then time; every stream of the latent function in every
  // split, in the same order, the tokens of an earlier split being the first of a later one's.
  std::vector<Stream> streams;
  std::vector<HistoryPosition> event_history, node_history;  ///< [N], [Q]; tokens strictly before the point
};

}  // namespace fedpp::data
