// Allowed values and what keys demand of each other: one refusal a rule, with what the message must name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/dump.hpp"
#include "config/effects.hpp"
#include "config/notes.hpp"
#include "errors.hpp"

using namespace fedpp::config;
using testing::HasSubstr;

TEST(Validate, AcceptsTheDefaultsWithATrainingFile) { EXPECT_NO_THROW(read_text(kMinimal, "run.toml", "/deck")); }

struct Refusal {
  std::vector<std::string> overrides;
  std::string message;  // part of it
};

class RefusedValue : public testing::TestWithParam<Refusal> {};

TEST_P(RefusedValue, IsNamedWithItsRemedy) {
  EXPECT_THAT(error_with(GetParam().overrides), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Ranges, RefusedValue,
    testing::Values(
        Refusal{{"model.prior_sd=0"}, "--set model.prior_sd=0: model.prior_sd = 0.0: must be above 0"},
        Refusal{{"model.prior_sd=nan"}, "model.prior_sd = nan: must be finite and above 0"},
        Refusal{{"model.prior_sd=inf"}, "model.prior_sd = inf: must be finite and above 0"},
        Refusal{{"model.window=5e-324"}, "must be in [1e-100, 1e+100]"},
        Refusal{{"data.drop_before=-inf"}, "data.drop_before = -inf: must be finite"},
        Refusal{{"model.periods=1,inf", "data.clock=calendar"},
                "model.periods = [1.0, inf]: inf is not finite and above 0"},
        Refusal{{"data.local_fraction=0"}, "data.local_fraction = 0.0: must be in (0, 1]"},
        Refusal{{"data.train_share=0"}, "data.train_share = 0.0: must be in (0, 1)"},
        Refusal{{"data.validation_share=1"}, "data.validation_share = 1.0: must be in (0, 1)"},
        Refusal{{"data.local_fraction=1.5"}, "data.local_fraction = 1.5: must be in (0, 1]"},
        Refusal{{"data.time_origin=1 March", "data.time_unit=day"},
                "is not a date that exists: write it as 2019-03-01"},
        Refusal{{"data.time_origin=2019-13-01", "data.time_unit=day"}, "is not a date"},
        Refusal{{"data.time_origin=2019-02-30", "data.time_unit=day"}, "is not a date"},
        Refusal{{"data.time_origin=2019-02-29", "data.time_unit=day"}, "is not a date"},
        Refusal{{"data.time_origin=0000-02-01", "data.time_unit=day"}, "is not a date"},
        Refusal{{"data.time_origin=2019-3-1", "data.time_unit=day"}, "is not a date"},
        Refusal{{"data.time_origin=2019-03-01T24:00:00", "data.time_unit=day"}, "is not a date"},
        Refusal{{"data.time_origin=2019-03-01T06:60:00", "data.time_unit=day"}, "is not a date"},
        Refusal{{"data.time_origin=2019-03-01T06:30:60", "data.time_unit=day"}, "is not a date"},
        Refusal{{"data.time_origin=2019-03-01T06:30:00Z", "data.time_unit=day"}, "is not a date"},
        Refusal{{"output.directory="}, "output.directory = \"\": results need a folder"},
        Refusal{{"data.time_origin=2019-03-01T06:30:00"},
                "data.time_unit = \"file unit\": with data.time_origin the unit must be one of s, min"},
        Refusal{{"data.types_per_client=0"}, "data.types_per_client = 0: must be at least 1"},
        Refusal{{"data.clients=0"}, "data.clients = 0: must be in [1, 1000000]"},
        Refusal{{"data.clients=1000000000"}, "data.clients = 1000000000: must be in [1, 1000000]"},
        Refusal{{"federation.rounds=1000000000000"}, "federation.rounds = 1000000000000: must be in [1, 10000000]"},
        Refusal{{"evaluation.samples=2000000000"}, "evaluation.samples = 2000000000: must be in [1, 10000]"},
        Refusal{{"evaluation.curve_points=2000000000"}, "must be in [2, 1000000]"},
        Refusal{{"model.quadrature_nodes=2000000000"}, "must be in [0, 100000]"},
        Refusal{{"attack.share=1"}, "attack.share = 1.0: must be in [0, 1)"},
        Refusal{{"training.beta1=1"}, "training.beta1 = 1.0: must be in [0, 1)"},
        Refusal{{"aggregation.fraction_bits=61"}, "aggregation.fraction_bits = 61: must be in [8, 60]"},
        Refusal{{"model.periods=1,-2", "data.clock=calendar"}, "model.periods = [1.0, -2.0]: -2.0 is not above 0"},
        Refusal{{"data.leave_out_types=-1"}, "data.leave_out_types = [-1]: -1 is not at least 0"},
        Refusal{{"aggregation.trim=0.5"}, "aggregation.trim = 0.5: must be in [0, 0.5)"},
        Refusal{{"federation.mix_lambda=1.1"}, "federation.mix_lambda = 1.1: must be in [0, 1]"},
        Refusal{{"aggregation.divergence=KL"},
                "aggregation.divergence = \"KL\": allowed are \"auto\", \"kl\", \"w2\", \"fedavg\", \"mmd\""}));

INSTANTIATE_TEST_SUITE_P(
    AcrossKeys, RefusedValue,
    testing::Values(
        Refusal{{"aggregation.scope=structural-entropy", "model.encoder=rbf"}, "take another model.encoder"},
        Refusal{{"aggregation.scope=structural-entropy", "aggregation.weights=events"},
                "aggregation.weights = \"events\": the weights within a community"},
        Refusal{{"aggregation.scope=structural-entropy", "federation.mode=local"}, "has no prior for each client"},
        Refusal{{"aggregation.scope=similarity-graph", "federation.mode=apple"}, "has no prior for each client"},
        Refusal{{"federation.client_start=mix", "federation.mode=fedala"}, "says itself where clients start"},
        Refusal{{"federation.client_start=mix", "federation.mode=ditto"}, "says itself where clients start"},
        Refusal{{"federation.client_start=optimised", "federation.mode=local"}, "nothing is received"},
        Refusal{{"training.alignment=1", "federation.mode=fedavg"}, "has no such term"},
        Refusal{{"training.alignment=1", "federation.mode=local"}, "has no such term"},
        Refusal{{"training.alignment=1", "model.encoder=rbf"}, "nothing to align"},
        Refusal{{"aggregation.estimator=median", "aggregation.divergence=mmd"}, "no means over clients"},
        Refusal{{"aggregation.estimator=median", "aggregation.weights=events"}, "knows no weights"},
        Refusal{{"aggregation.estimator=median", "aggregation.scope=structural-entropy"}, "for one barycentre of all"},
        Refusal{{"attack.kind=replaced-events", "attack.strength=2"}, "attack.strength = 2.0: is a share"},
        Refusal{{"attack.kind=noise", "attack.share=0.98"},
                "attack.share = 0.98: makes all of data.clients = 20 hostile"},
        Refusal{{"data.train=a.csv,./a.csv"}, "a.csv\" is in data.train already: name each file once"},
        Refusal{{"data.test=b.csv", "data.validation=b.csv"}, "b.csv\" is in data.validation already"},
        Refusal{{"data.protocol=population", "data.realisation=pooled", "data.test=b.csv,b.csv"},
                "b.csv\" is in data.test already"},
        Refusal{{"data.train_share=0.8"},
                "data.validation_share = 0.2: leaves nothing to test on after data.train_share = 0.8"},
        Refusal{{"data.train=[]"}, "no training data"},
        Refusal{{"data.client_files=site{client}.csv"}, "either data.train or data.client_files"},
        Refusal{{"data.train=[]", "data.client_files=site.csv"}, "must contain {client}"},
        Refusal{{"data.windows=a,b"}, "2 windows tables for 1 data files"},
        Refusal{{"data.train=[]", "data.client_files=site{client}.csv", "data.validation=b.csv"},
                "put {client} into each name"},
        Refusal{{"data.train=[]", "data.client_files=site{client}.csv", "data.windows=w.csv"},
                "put {client} into each name"},
        Refusal{{"data.train=[]", "data.client_files=site{client}.csv", "data.windows=a{client},b{client}"},
                "2 windows tables for 1 data files"},
        Refusal{{"data.protocol=population", "data.test=b.csv", "data.realisation=per-sequence"},
                "set data.realisation = \"pooled\""},
        Refusal{{"data.protocol=population", "data.realisation=pooled", "data.test=b.csv", "data.clock=elapsed"},
                "data.clock = \"elapsed\": protocol"},
        Refusal{{"data.protocol=population", "data.realisation=pooled"}, "name their files in data.test"},
        Refusal{{"data.protocol=published-code", "data.realisation=pooled", "data.test=b.csv"},
                "set data.deal = false"},
        Refusal{{"model.periods=1"}, "a period needs file time: set data.clock = \"calendar\""},
        Refusal{{"model.periods=1", "data.clock=calendar", "model.encoder=rbf"}, "takes no periodic inputs"},
        Refusal{{"model.mean=linear", "model.encoder=rbf"}, "encoder \"rbf\" has none"},
        Refusal{{"data.clients=5", "federation.participants=10"},
                "federation.participants = 10: more than data.clients = 5"},
        Refusal{{"federation.patience=3", "federation.validate_every=0"}, "early stopping needs validation scores"},
        Refusal{
            {"data.protocol=population", "data.realisation=pooled", "data.test=b.csv", "evaluation.next_event=true"},
            "not one sequence's next event"}));

/// The lines of a file, "section.key = value", and what the refusal must say.
struct Idle {
  std::string lines, message;
};

class IdleKey : public testing::TestWithParam<Idle> {};

TEST_P(IdleKey, IsRefusedInAFile) { EXPECT_THAT(error_of(GetParam().lines), HasSubstr(GetParam().message)); }

const std::string kTrain = "data.train = ['a.csv']\n", kPattern = "data.client_files = 'site{client}.csv'\n";

INSTANTIATE_TEST_SUITE_P(
    Effects, IdleKey,
    testing::Values(
        Idle{kTrain + "data.drop_before = 3\n",
             "data.drop_before = 3.0: has no effect unless data.drop = true: leave it out"},
        Idle{kPattern + "data.types_per_client = 2\n",
             "data.types_per_client = 2: has no effect unless clients are dealt the files of data.train"},
        Idle{kPattern + "data.partition = 'file'\n", "data.partition = \"file\": has no effect"},
        Idle{kPattern + "data.partition = 'heterogeneous'\n", "data.partition = \"heterogeneous\": has no effect"},
        Idle{kTrain + "model.encoder = 'decay'\nmodel.time_input = true\n", "model.time_input = true: has no effect"},
        Idle{kPattern + "data.deal = false\n", "data.deal = false: has no effect"},
        Idle{kTrain + "data.partition = 'homogeneous'\ndata.types_per_client = 2\n",
             "data.partition = \"heterogeneous\""},
        Idle{kTrain + "data.protocol = 'population'\ndata.test = ['b.csv']\ndata.split_at = 'event'\n",
             "data.split_at = \"event\": has no effect unless data.protocol = \"chronological\""},
        Idle{kTrain + "data.protocol = 'population'\ndata.test = ['b.csv']\ndata.train_share = 0.5\n",
             "data.train_share = 0.5: has no effect unless data.protocol = \"chronological\""},
        Idle{kTrain + "data.protocol = 'population'\ndata.test = ['b.csv']\ndata.validation_share = 0.1\n",
             "data.validation_share = 0.1: has no effect unless data.protocol = \"chronological\""},
        Idle{kTrain + "model.encoder = 'rbf'\nmodel.width = 8\n", "model.width = 8: has no effect"},
        Idle{kTrain + "model.layers = 1\n", "model.layers = 1: has no effect unless model.encoder = \"lstm\""},
        Idle{kTrain + "model.encoder = 'decay'\nmodel.type_embedding = 2\n", "which see the types of past events"},
        Idle{kTrain + "model.mean = 'constant'\nmodel.mean_sd = 0.1\n", "no effect unless model.mean = \"linear\""},
        Idle{kTrain + "model.temperature = 0.5\n", "no effect unless model.tempering = \"fixed\""},
        Idle{kTrain + "model.tempering = 'fixed'\n", "no effect unless model.temperature is below 1"},
        Idle{kTrain + "federation.proximal = 2\n",
             "no effect unless federation.mode = \"fedprox\", \"ditto\" or \"apple\""},
        Idle{kTrain + "federation.mixing_rate = 2\n", "no effect unless federation.mode = \"fedala\" or \"apple\""},
        Idle{kTrain + "federation.straggling_period = 2\nfederation.participants = 0\n", "samples some of the clients"},
        Idle{kTrain + "federation.mix_lambda = 0.5\n", "no effect unless federation.client_start = \"mix\""},
        Idle{kTrain + "federation.mode = 'local'\naggregation.weights = 'events'\n",
             "federation.mode exchanges something"},
        Idle{kTrain + "federation.mode = 'local'\naggregation.fraction_bits = 30\n",
             "federation.mode exchanges something"},
        Idle{kTrain + "federation.mode = 'local'\naggregation.estimator = 'median'\n",
             "federation.mode exchanges something"},
        Idle{kTrain + "aggregation.estimator = 'trimmed-mean'\nfederation.participants = 4\n",
             "takes at least one off at each end"},
        Idle{"data.clients = 2\n" + kTrain + "aggregation.estimator = 'median'\n",
             "a median of at least three uploads"},
        Idle{kTrain + "aggregation.mmd_bandwidth = 1\n", "no effect unless aggregation.divergence = \"mmd\""},
        Idle{kTrain + "aggregation.trim = 0.3\n", "no effect unless aggregation.estimator = \"trimmed-mean\""},
        Idle{kTrain + "aggregation.similarity = 'centred-gram'\n", "aggregation.scope is another than \"global\""},
        Idle{kTrain + "aggregation.probe_points = 8\n", "aggregation.scope is another than \"global\""},
        Idle{kTrain + "aggregation.keep_uploads = 8\n", "aggregation.scope is another than \"global\""},
        Idle{kTrain + "federation.mode = 'local'\nattack.kind = 'noise'\n",
             "federation.mode exchanges uploads to attack"},
        Idle{kTrain + "attack.share = 0.5\n", "attack.kind is another than \"none\""},
        Idle{kTrain + "attack.strength = 0.5\n", "attack.kind is another than \"none\""}));

TEST(Effects, AKeyAtItsDefaultOrWithWhatItNeedsIsTaken) {
  EXPECT_NO_THROW(read_text(kMinimal + "[aggregation]\ntrim = 0.2\n[attack]\nshare = 0.2\n", "run.toml", "/deck"));
  EXPECT_NO_THROW(read_text(dump(Config{}), "run.toml", "/deck", {"data.train=a.csv"}));
  EXPECT_NO_THROW(read_text(dump(earlier_defaults()), "run.toml", "/deck", {"data.train=a.csv"}));
  EXPECT_NO_THROW(read_text(kMinimal, "run.toml", "/deck", {"federation.mode=local", "attack.kind=replaced-events"}));
  EXPECT_NO_THROW(read_text(kMinimal, "run.toml", "/deck",
                            {"aggregation.trim=0.3", "aggregation.estimator=trimmed-mean", "attack.kind=noise",
                             "attack.share=0.5", "model.tempering=fixed", "model.temperature=0.5"}));
}

TEST(Effects, ASizeOfThePartitionThatWasTheDefaultIsRefusedUnlessThePartitionIsGiven) {
  const std::string message =
      "run.toml:3:1: data.types_per_client = 4: has no effect unless data.partition = \"heterogeneous\"";
  EXPECT_THAT(error_of(kMinimal + "types_per_client = 4\n"), HasSubstr(message));
  EXPECT_THAT(error_with({"data.types_per_client=4"}), HasSubstr("data.types_per_client = 4: has no effect"));
  for (const std::string partition : {"heterogeneous", "homogeneous", "file"})
    EXPECT_NO_THROW(
        read_text(kMinimal + "types_per_client = 4\npartition = '" + partition + "'\n", "run.toml", "/deck"));
  EXPECT_NO_THROW(read_text("[data]\nclient_files = 'site{client}.csv'\ntypes_per_client = 4\n", "run.toml", "/deck"));
}

TEST(Effects, OfAFileThatTheProgramWroteOnlyOverridesAreJudged) {
  const std::string text = kMinimal + "[aggregation]\ntrim = 0.3\n";
  EXPECT_EQ(read_text(text, "run.toml", "/deck", {}, Written::kByTheProgram).config.aggregation.trim, 0.3);
  EXPECT_THROW(read_text(text, "run.toml", "/deck", {"federation.proximal=2"}, Written::kByTheProgram),
               fedpp::UserError);
}

TEST(Effects, AnOverrideMayTakeOneAway) {
  const std::string text =
      kMinimal +
      "partition = 'heterogeneous'\ntypes_per_client = 2\n[aggregation]\ntrim = 0.3\nestimator = 'trimmed-mean'\n";
  EXPECT_NO_THROW(read_text(text, "run.toml", "/deck", {"data.partition=homogeneous", "aggregation.estimator=median"}));
  EXPECT_NO_THROW(read_text(text, "run.toml", "/deck", {"data.types_per_client=3", "data.partition=homogeneous"}));
  EXPECT_NO_THROW(read_text(kMinimal + "[model]\nmean_sd = 0.1\n", "run.toml", "/deck", {"model.mean=constant"}));
  EXPECT_THAT(error_with({"aggregation.trim=0.3"}), HasSubstr("--set aggregation.trim=0.3: aggregation.trim = 0.3"));
  EXPECT_THAT(error_with({"model.tempering=fixed"}), HasSubstr("no effect unless model.temperature is below 1"));
}

TEST(Effects, OnlyKeysWithoutOneAreReset) {
  Config config;
  config.aggregation.trim = 0.3;
  config.data.leave_out_types = {1};
  config.federation.proximal = 3;
  config.federation.mode = Mode::kDitto;
  reset_keys_without_effect(config);
  EXPECT_EQ(config.aggregation.trim, Config{}.aggregation.trim);
  EXPECT_EQ(config.data.leave_out_types, std::vector<std::int64_t>{1});
  EXPECT_EQ(config.federation.proximal, 3);
}

std::vector<std::string> notes_with(const std::vector<std::string>& overrides) {
  return notes(read_text(kMinimal, "run.toml", "/deck", overrides).config);
}

TEST(Notes, SayWhatChronologicalAsksOfAnEncoder) {
  for (const std::string encoder : {"rbf", "deep-kernel"}) {
    ASSERT_EQ(notes_with({"model.encoder=" + encoder}).size(), 1u);
    const std::string note = notes_with({"model.encoder=" + encoder})[0];
    EXPECT_THAT(note, HasSubstr("\"" + encoder + "\" sees time alone"));
    EXPECT_THAT(note, HasSubstr("\"deep-kernel\" with data.clock = \"calendar\" and model.periods"));
  }
  EXPECT_TRUE(notes_with({"model.encoder=deep-kernel", "model.periods=24", "data.clock=calendar"}).empty());
  EXPECT_TRUE(notes_with({"data.protocol=population", "data.test=b.csv"}).empty());
  EXPECT_TRUE(notes_with({}).empty());
  for (const std::string encoder : {"lstm", "attention"}) {
    EXPECT_TRUE(notes_with({"model.encoder=" + encoder}).empty());
    const auto seen = notes_with({"model.encoder=" + encoder, "model.time_input=true"});
    ASSERT_EQ(seen.size(), 1u);
    EXPECT_THAT(seen[0], HasSubstr("model.time_input = false"));
  }
}

TEST(Notes, SayWhereARobustEstimatorIsTheMean) {
  const auto with = [](const std::string& participants) {
    return notes_with(
        {"model.encoder=decay", "aggregation.estimator=trimmed-mean", "federation.participants=" + participants});
  };
  EXPECT_TRUE(with("5").empty());
  ASSERT_EQ(with("4").size(), 1u);
  EXPECT_THAT(with("4")[0], HasSubstr("aggregation.estimator = \"trimmed-mean\" is the mean here"));
  ASSERT_EQ(notes_with({"model.encoder=decay", "aggregation.estimator=median", "data.clients=2"}).size(), 1u);
}

TEST(Validate, NamesTheLineOfTheKeyAtFault) {
  EXPECT_THAT(error_of(kMinimal + "clients = 4\n[federation]\nparticipants = 5\n"),
              HasSubstr("run.toml:5:1: federation.participants = 5: more than data.clients = 4"));
}

TEST(Validate, RefusesAFolderWhoseNameNoResultCanHold) {
  try {
    read_text(kMinimal, "run.toml", "/caf\xe9");
    FAIL() << "nothing thrown";
  } catch (const fedpp::UserError& error) {
    EXPECT_THAT(error.what(), testing::AllOf(HasSubstr("data.train = "), HasSubstr("not UTF-8")));
  }
}

TEST(Validate, ListsAllMistakes) {
  const std::string text = error_with({"model.prior_sd=-1", "training.epochs=0"});
  EXPECT_THAT(text, HasSubstr("model.prior_sd"));
  EXPECT_THAT(text, HasSubstr("training.epochs"));
}

TEST(Validate, PublishedCodeMayValidateOnItsTestFile) {
  EXPECT_NO_THROW(read_text(kMinimal, "run.toml", "/deck",
                            {"data.protocol=published-code", "data.realisation=pooled", "data.deal=false",
                             "data.test=b.csv", "data.validation=b.csv"}));
  EXPECT_NO_THROW(
      read_text(kMinimal, "run.toml", "/deck",
                {"data.protocol=population", "data.realisation=pooled", "data.train=a.csv", "data.test=a.csv"}));
}
