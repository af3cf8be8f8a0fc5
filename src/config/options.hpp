// Every option of fedpp with its default, one struct a section of the TOML file. Each struct lists its keys once, in
// visit(): v(key, member, help) or v(key, member, help, range), where 'range' is of numbers (of every number in a
// list); the words that an enumeration allows stand in words.hpp. Reading, --set, dumping with comments, archiving, the
// checks of allowed values and the suggestions for misspelt keys all come from that list.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "config/range.hpp"
#include "config/words.hpp"

namespace fedpp::config {

/// The data and how they become clients and realisations (theory 1.1, 3.2, 3.3).
struct Data {
  std::vector<std::string> train, validation, test;  // files; chronological: all of them together
  std::vector<std::string> windows;                  // windows tables, aligned with train, validation, test by name
  std::string client_files;  // pattern with {client}: one file a client, opened by its owner only
  Protocol protocol = Protocol::kChronological;
  Realisation realisation = Realisation::kAuto;
  Clock clock = Clock::kAuto;
  SplitAt split_at = SplitAt::kAuto;
  double train_share = 0.6;
  double validation_share = 0.2;
  Partition partition = Partition::kHomogeneous;
  std::int64_t clients = 20;
  std::int64_t types_per_client = 4;
  std::vector<std::int64_t> leave_out_types;
  bool deal = true;
  double local_fraction = 1.0;
  double drop_before = 0.0;
  bool drop = false;
  std::int64_t max_sequences = 0;
  std::string time_unit = "file unit";
  std::string time_origin;

  template <class V>
  void visit(V& v) {
    v("train", train,
      "training files: CSV (plain or .gz), EasyTPP JSON lines (.jsonl), or HDF5 made by 'fedpp import'");
    v("validation", validation, "further files; 'population' ignores them (folds of the training lists validate)");
    v("test", test, "test files; 'chronological' joins train, validation and test and cuts every sequence in time");
    v("windows", windows,
      "windows tables (CSV sequence,start,end), one for each training, validation and test file in that order, or "
      "none");
    v("client_files", client_files,
      "one file a client instead of 'train': a pattern with {client}, opened only by the owning rank");
    v("protocol", protocol,
      "what is scored. chronological: the later events of the same sequences. population: other sequences over the same "
      "calendar window (with 'test'). published-code: as the paper's authors score (theory 3.3)");
    v("realisation", realisation,
      "one latent function per sequence or per client; auto: per sequence under 'chronological' with a kernel of time "
      "alone, else pooled");
    v("clock", clock, "elapsed (time since a sequence's start), calendar (file time), or by protocol");
    v("split_at", split_at,
      "'chronological': where training, validation and test windows meet. After 'train_share' and 'validation_share' of "
      "a sequence's events: halfway to the next event, or at the last event of the earlier window (event). auto: event "
      "with a history encoder, else halfway. time: after these shares of its observed time. Then, with 'windows', every "
      "sequence stays, however few its events");
    v("train_share", train_share, "'chronological': share of each sequence that comes first and trains", inside(0, 1));
    v("validation_share", validation_share,
      "'chronological': share of each sequence that comes next and validates; what is left over is tested on",
      inside(0, 1));
    v("partition", partition,
      "homogeneous: every client sees all types kept. heterogeneous: 'types_per_client' types. file: every client sees "
      "all types, and holds the sequences that the HDF5 files say are its own (fedpp import --columns client=...)");
    v("clients", clients, "number of clients C; partition 'file': the number that the files hold", between(1, 1e6));
    v("types_per_client", types_per_client, "k: 'heterogeneous' client c sees types (c k .. c k + k - 1) mod K",
      at_least(1));
    v("leave_out_types", leave_out_types, "types dropped from the data before anything else", at_least(0));
    v("deal", deal,
      "deal sequences disjointly among the clients that could hold them (false: clients of equal types are copies)");
    v("local_fraction", local_fraction, "share of its training sequences that a client keeps, in (0, 1]",
      above_up_to(0, 1));
    v("drop", drop, "drop events before 'drop_before' and make it the origin of time");
    v("drop_before", drop_before, "see 'drop' (file unit)");
    v("max_sequences", max_sequences, "use only the first so many sequences of each file (0: all)", at_least(0));
    v("time_unit", time_unit, "name of the file's unit of time, for tables and axes");
    v("time_origin", time_origin,
      "date of the file's time 0, as 2019-03-01 or 2019-03-01T06:30:00: axes of calendar time and what predict writes as "
      ".csv then show dates (\"\": none)");
  }
};

/// One client's model (theory 1.2, 1.7).
struct Model {
  Encoder encoder = Encoder::kAuto;
  std::int64_t width = 32;
  std::int64_t layers = 2;
  std::int64_t type_embedding = 0;
  bool time_input = false;
  std::vector<double> periods;
  PriorMean mean = PriorMean::kAuto;
  std::int64_t inducing = 50;
  double window = 100.0;
  std::int64_t quadrature_nodes = 0;
  double jitter = 1e-6;
  double start_variance = 1.0;
  double start_lengthscale = 0.1;
  double start_weight_scale = 1.0;
  double prior_sd = 0.3;
  double mean_sd = 0.3;
  Tempering tempering = Tempering::kNone;
  double temperature = 1.0;

  template <class V>
  void visit(V& v) {
    v("encoder", encoder,
      "embedding of the kernel: of time alone (rbf, deep-kernel), or of time and history; auto: decay under "
      "'chronological', else deep-kernel");
    v("width", width, "embedding size of the deep kernel and of decay; units of a layer of lstm and attention",
      between(1, 1024));
    v("layers", layers, "layers of lstm and attention", between(1, 8));
    v("type_embedding", type_embedding, "size of the embedding of past events' types in lstm and attention (0: none)",
      between(0, 256));
    v("time_input", time_input,
      "lstm and attention see the time itself beside the gaps, as the paper's do. The windows of validation and test come "
      "later than those of training: there it takes values that training has not shown (false: gaps alone)");
    v("periods", periods,
      "periods (file unit, calendar clock) whose sine and cosine join the encoder's inputs: day, week", above(0));
    v("mean", mean,
      "prior mean of f: constant (nu, a client's own; the paper's), or linear: nu + a'h with slopes a among the "
      "weights that travel, so that clients share what f is like, not only how it varies; auto: linear with decay, else "
      "constant");
    v("inducing", inducing, "M: inducing points of a realisation", between(1, 4096));
    v("window", window, "T: length of the scaled clock", between(1e-100, 1e100));
    v("quadrature_nodes", quadrature_nodes,
      "quadrature nodes over a realisation's window; with a history encoder at most so many a cell between two events (0: "
      "chosen)",
      between(0, 1e5));
    v("jitter", jitter, "relative jitter of K(z,z); multiplied by ten up to 1e-2 where a Cholesky factorisation fails",
      above_up_to(0, 1e-2));
    v("start_variance", start_variance, "r at the start", above(0));
    v("start_lengthscale", start_lengthscale,
      "l at the start, as a share of the window in embedding distance (history encoders: of ten times the embeddings' "
      "spread)",
      above(0));
    v("start_weight_scale", start_weight_scale,
      "sd of the encoder's weights at the start, one draw common to all clients (lstm, attention: by root of a "
      "matrix's inputs)");
    v("prior_sd", prior_sd, "sigma_0: sd of the global weights at the start, in units of the encoder's start",
      above(0));
    v("mean_sd", mean_sd,
      "sd of a linear mean a'h at the start where h's D entries are 1 or -1; a slope's is mean_sd / sqrt(D)", above(0));
    v("tempering", tempering,
      "power of the likelihood: none, fixed ('temperature'), or dispersion (from the spread of counts over sequences)");
    v("temperature", temperature, "tau in (0, 1] for tempering = 'fixed'", above_up_to(0, 1));
  }
};

/// What the counters of the random numbers hold of an epoch: 16 bits (gpu/random.cpp).
inline constexpr std::int64_t kMostEpochs = 1 << 16;

/// A client's local epochs (theory 1.6).
struct Training {
  std::int64_t epochs = 5;
  std::int64_t samples = 1;
  double learning_rate = 1e-2;
  double learning_rate_kernel = 0.0;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  SdMap sd_map = SdMap::kSoftplus;
  double prior_weight = 1.0;
  double alignment = 0.0;
  std::int64_t batch_realisations = 0;
  double batch_points = 1.0;
  Schedule schedule = Schedule::kConstant;
  Precision precision = Precision::kDouble;

  template <class V>
  void visit(V& v) {
    v("epochs", epochs, "E: local epochs a round", between(1, kMostEpochs));
    v("samples", samples, "S: Monte Carlo samples of the weights in an epoch", between(1, 1e4));
    v("learning_rate", learning_rate, "Adam's step for the encoder's weights", above(0));
    v("learning_rate_kernel", learning_rate_kernel, "Adam's step for log r and log l (0: as learning_rate)",
      at_least(0));
    v("beta1", beta1, "Adam", from_below(0, 1));
    v("beta2", beta2, "Adam", from_below(0, 1));
    v("epsilon", epsilon, "Adam", above(0));
    v("sd_map", sd_map, "map from the real line to the sd delta");
    v("prior_weight", prior_weight, "weight of the divergence to the prior (w2 and mmd are not in nats)", at_least(0));
    v("alignment", alignment,
      "weight of the pull on the centroids of each event type's embeddings towards those of the received model (0: "
      "none, 1: the paper's; federation.mode = 'federated')",
      between(0, 1e100));
    v("batch_realisations", batch_realisations, "realisations in a mini-batch (0: all)", between(0, 1e9));
    v("batch_points", batch_points,
      "share of a realisation's events and nodes in a mini-batch, in (0, 1]. They are taken by tiles of 256 (GPU: 64). A "
      "realisation with fewer tiles than there are mini-batches gives one tile to each",
      above_up_to(0, 1));
    v("schedule", schedule, "learning rate over the rounds");
    v("precision", precision, "of local epochs: double, or single for matrices over events and nodes (scores: double)");
  }
};

/// A run keeps a line of history for each round.
inline constexpr std::int64_t kMostRounds = 10'000'000;

/// The round loop (theory 2.0, 3.2).
struct Federation {
  Mode mode = Mode::kFederated;
  double proximal = 1.0;
  double mixing_rate = 0.0;
  std::int64_t rounds = 100;
  std::int64_t participants = 10;
  std::int64_t straggling_period = 1;
  ClientStart client_start = ClientStart::kContinue;
  double mix_lambda = 0.8;
  std::int64_t seed = 1;
  std::int64_t validate_every = 1;
  std::int64_t patience = 0;

  template <class V>
  void visit(V& v) {
    v("mode", mode,
      "federated: this program's own. The others are for comparison, with the same models. local: no exchange, every "
      "client alone under the initial prior. fedavg, fedprox, per-fedavg, ditto, fedala, apple: federations of other "
      "papers (docs/aggregation.md)");
    v("proximal", proximal,
      "weight of half a squared distance. fedprox (its mu) and ditto (its lambda): of r from the shared model's r. apple "
      "(its mu): of p from the clients' shares of the events",
      above(0));
    v("mixing_rate", mixing_rate,
      "step of the weights by which fedala and apple mix models. fedala (its eta): along the loss in nats, 0 means 1. "
      "apple: along the loss per training event, 0 means 0.03",
      at_least(0));
    v("rounds", rounds, "communication rounds", between(1, kMostRounds));
    v("participants", participants, "clients sampled uniformly a round (0: all; left out: at most all)", at_least(0));
    v("straggling_period", straggling_period, "G: the participants stay the same for G rounds", at_least(1));
    v("client_start", client_start,
      "where a participant's weights start. continue: at its own posterior, what it received being only its prior. "
      "overwrite: at what it received. mix: between the two, at 'mix_lambda' (0: received, 1: own). optimised: at the "
      "lambda in [0.6, 1] that scores best on half of its validation windows");
    v("mix_lambda", mix_lambda, "lambda of client_start = 'mix'", between(0, 1));
    v("seed", seed, "seed of everything random", at_least(0));
    v("validate_every", validate_every, "rounds between validation scores (0: never; then the last round is kept)",
      at_least(0));
    v("patience", patience, "stop after so many validations without improvement (0: never)", at_least(0));
  }
};

/// The server's barycentre (theory 2.1, 2.2).
struct Aggregation {
  Divergence divergence = Divergence::kAuto;
  UploadWeights weights = UploadWeights::kUniform;
  std::int64_t fraction_bits = 40;
  double mmd_bandwidth = 0.0;
  Estimator estimator = Estimator::kMean;
  double trim = 0.2;
  Scope scope = Scope::kGlobal;
  Similarity similarity = Similarity::kMeanOfCosines;
  std::int64_t probe_points = 64;
  std::int64_t keep_uploads = 10;

  template <class V>
  void visit(V& v) {
    v("divergence", divergence,
      "how uploads are combined, and how far a client is held to its prior (theory 2.1). auto is kl, with one exception. "
      "The federations of other papers average, so for them auto is fedavg: federation.mode from fedavg to apple, and "
      "scope = 'similarity-graph'");
    v("weights", weights, "weight of a client's upload: uniform or by its number of training events");
    v("fraction_bits", fraction_bits, "k: contributions are rounded once to multiples of 2^-k and summed as integers",
      between(8, 60));
    v("mmd_bandwidth", mmd_bandwidth,
      "d of the mmd divergence (0: from the median deviation of the uploads' means, docs/aggregation.md)",
      between(0, 1e100));
    v("estimator", estimator,
      "what stands for the mean over clients in kl, w2 and fedavg: median and trimmed-mean bear a few hostile uploads");
    v("trim", trim, "share of the uploads that 'trimmed-mean' takes off at each end", from_below(0, 0.5));
    v("scope", scope,
      "global: one barycentre is everybody's prior. structural-entropy: every client gets its community's. "
      "similarity-graph: every client gets one of all uploads, weighted by their similarity to it (for comparison: SFL)");
    v("similarity", similarity,
      "of two clients, from their embeddings of common probe points: mean over points of the cosine, cosine of the "
      "means, or by centred Gram matrices (blind to rotations)");
    v("probe_points", probe_points, "probe points (seeded times, or histories where the encoder reads them)",
      between(2, 1e5));
    v("keep_uploads", keep_uploads,
      "scopes but 'global': rounds that a client's last upload still counts after its own", at_least(0));
  }
};

/// Hostile clients, to measure what a federation stands (docs/aggregation.md).
struct Attack {
  AttackKind kind = AttackKind::kNone;
  double share = 0.2;
  double strength = 1.0;

  template <class V>
  void visit(V& v) {
    v("kind", kind,
      "what hostile clients do to their uploads in every round, or to their training events before the first");
    v("share", share, "share of the clients that are hostile, drawn by the seed", from_below(0, 1));
    v("strength", strength,
      "noise: in standard deviations of theta; scaled, sign-flipped: factor on the change from theta; replaced-events: "
      "share of the training events moved to uniform times",
      at_least(0));
  }
};

/// Scores and curves (theory 1.8, 3.3).
struct Evaluation {
  std::int64_t samples = 8;
  std::int64_t e_steps = 50;
  std::int64_t curve_points = 400;
  std::int64_t curve_clients = 4;
  bool curve_events = false;
  bool trivial_models = true;
  bool next_event = false;

  template <class V>
  void visit(V& v) {
    v("samples", samples, "samples of the weights at prediction", between(1, 1e4));
    v("e_steps", e_steps, "E-steps before scoring; not to convergence, on purpose (docs/theory.md 1.8)",
      between(0, 1e6));
    v("curve_points", curve_points, "points of the intensity curves in result.h5", between(2, 1e6));
    v("curve_clients", curve_clients, "clients whose curves are written", at_least(0));
    v("curve_events", curve_events,
      "write those clients' event times and the ends of their windows beside their curves, for the figures: they then "
      "leave the client (the curves of decay, lstm and attention show them anyhow: docs/trust.md)");
    v("trivial_models", trivial_models, "score the trivial models beside ours");
    v("next_event", next_event,
      "'chronological': errors of the next event's time on validation and test, one step ahead");
  }
};

/// Files and checkpoints.
struct Output {
  std::string directory = "out";
  std::int64_t checkpoint_every = 10;
  double checkpoint_minutes = 10;
  std::int64_t checkpoints_kept = 2;
  bool progress = true;

  template <class V>
  void visit(V& v) {
    v("directory", directory, "where results, checkpoints and logs go (--out)");
    v("checkpoint_every", checkpoint_every, "rounds between checkpoints (0: not by rounds)", at_least(0));
    v("checkpoint_minutes", checkpoint_minutes,
      "minutes after which a round ends with a checkpoint, too (0: not by time); signals and the end always write one",
      at_least(0));
    v("checkpoints_kept", checkpoints_kept, "newest checkpoints kept", at_least(1));
    v("progress", progress, "a line of progress that renews itself on a terminal");
  }
};

/// How the machine is used; none of it changes what is computed beyond rounding.
struct Backend {
  Dense dense = Dense::kAuto;
  double workspace_mb = 0.0;

  template <class V>
  void visit(V& v) {
    v("dense", dense,
      "batched linear algebra: a host's (BLAS and LAPACK, our own products of small tiles), our own team kernels, or "
      "by backend");
    v("workspace_mb", workspace_mb,
      "clients of a rank are advanced in blocks whose work space stays below this (MB; 0: 8 a thread on a host, whose "
      "caches then hold a block, a quarter of a GPU's free memory, shared by its ranks); one client always fits",
      at_least(0));
  }
};

/// The resolved configuration.
struct Config {
  Data data;
  Model model;
  Training training;
  Federation federation;
  Aggregation aggregation;
  Attack attack;
  Evaluation evaluation;
  Output output;
  Backend backend;

  template <class V>
  void visit(V& v) {
    v.section("data", data, "the data and how they become clients");
    v.section("model", model, "one client's model");
    v.section("training", training, "a client's local epochs");
    v.section("federation", federation, "the round loop");
    v.section("aggregation", aggregation, "the server's barycentre");
    v.section("attack", attack, "hostile clients, for measurements");
    v.section("evaluation", evaluation, "scores and curves");
    v.section("output", output, "files and checkpoints");
    v.section("backend", backend, "how the machine is used");
  }
};

/// How many of the clients are hostile: the share, rounded.
inline std::int64_t hostile_count(const Data& data, const Attack& attack) {
  return attack.kind == AttackKind::kNone ? 0 : std::llround(attack.share * static_cast<double>(data.clients));
}

/// Whether the encoder can embed the types of the events before a point.
inline bool reads_types(const Model& model) {
  return model.encoder == Encoder::kLstm || model.encoder == Encoder::kAttention;
}

/// Whether the encoder sees the events before a point, not time alone.
inline bool reads_history(const Model& model) { return reads_types(model) || model.encoder == Encoder::kDecay; }

/// The defaults of earlier versions: what a configuration that the program wrote then means by a key that it lacks.
inline Config earlier_defaults() {
  Config config;
  config.data.partition = Partition::kHeterogeneous;
  config.model.encoder = Encoder::kDeepKernel;
  config.model.mean = PriorMean::kConstant;
  config.model.time_input = true;
  return config;
}

/// Replaces "auto" where it stands for what other keys say. The papers of the other federations, SFL (similarity-graph)
/// among them, average weights.
inline void settle(Config& config) {
  const bool own = config.federation.mode == Mode::kFederated || config.federation.mode == Mode::kLocal;
  const bool chronological = config.data.protocol == Protocol::kChronological;
  // The model to begin with where later events are scored (validation/paper/chronological-table). Streams laid over each
  // other have no past; with a kernel of time alone a linear mean can do harm, and the LSTM gains little by it.
  if (config.model.encoder == Encoder::kAuto)
    config.model.encoder = chronological ? Encoder::kDecay : Encoder::kDeepKernel;
  if (config.model.mean == PriorMean::kAuto)
    config.model.mean = config.model.encoder == Encoder::kDecay ? PriorMean::kLinear : PriorMean::kConstant;
  if (config.aggregation.divergence == Divergence::kAuto)
    config.aggregation.divergence =
        own && config.aggregation.scope != Scope::kSimilarityGraph ? Divergence::kKl : Divergence::kFedavg;
  // With a history each sequence has inputs of its own, and what follows a past is learned from all sequences of a
  // client (validation/paper/realisations); over time alone one f would be the same curve for all of them.
  if (config.data.realisation == Realisation::kAuto)
    config.data.realisation =
        chronological && !reads_history(config.model) ? Realisation::kPerSequence : Realisation::kPooled;
  if (config.data.clock == Clock::kAuto) config.data.clock = chronological ? Clock::kElapsed : Clock::kCalendar;
  if (config.data.split_at == SplitAt::kAuto && chronological)
    config.data.split_at = reads_history(config.model) ? SplitAt::kEvent : SplitAt::kHalfway;
}

}  // namespace fedpp::config
