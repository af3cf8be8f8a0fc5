// Reading TOML and overrides: what arrives, and what each mistake says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "config/dump.hpp"
#include "config/read.hpp"
#include "errors.hpp"

using namespace fedpp::config;
using testing::HasSubstr;
using testing::StartsWith;

TEST(Read, TakesValuesFromEverySectionAndDefaultsElsewhere) {
  const Config config = read_text(
                            "[data]\ntrain = ['a.csv', 'sub/b.csv']\nclients = 7\nleave_out_types = [0, 3]\n"
                            "clock = 'calendar'\ndeal = false\n"
                            "[model]\nprior_sd = 1\nperiods = [1, 7.5]\n"
                            "[federation]\nparticipants = 0\nseed = 18\n"
                            "[aggregation]\ndivergence = \"w2\"\n",
                            "run.toml", "/deck")
                            .config;
  EXPECT_EQ(config.data.train, (std::vector<std::string>{"/deck/a.csv", "/deck/sub/b.csv"}));
  EXPECT_EQ(config.data.clients, 7);
  EXPECT_EQ(config.data.leave_out_types, (std::vector<std::int64_t>{0, 3}));
  EXPECT_FALSE(config.data.deal);
  EXPECT_EQ(config.model.prior_sd, 1.0);  // an integer is a number
  EXPECT_EQ(config.model.periods, (std::vector<double>{1.0, 7.5}));
  EXPECT_EQ(config.federation.participants, 0);
  EXPECT_EQ(config.federation.seed, 18);
  EXPECT_EQ(config.aggregation.divergence, Divergence::kW2);
  EXPECT_EQ(config.federation.rounds, Config{}.federation.rounds);
}

TEST(Read, KeysOfVeryManyPartsAreRefusedBeforeTheyAreParsed) {
  std::string deep = "a";
  for (int part = 1; part < 100'000; ++part) deep += ".a";
  const std::string message = "a key of more than 64 parts";
  EXPECT_THAT(error_of(kMinimal + deep + " = 1\n"), StartsWith("run.toml:3: " + message));
  EXPECT_THAT(error_of("# " + deep + "\n[" + deep + "]\n"), StartsWith("run.toml:2: " + message));
  EXPECT_THAT(error_of(kMinimal + "clients = { " + deep + " = 1 }\n"), StartsWith("run.toml:3: " + message));
  EXPECT_THAT(error_with({"data.clients={" + deep + "=1}"}), HasSubstr("--set data.clients: " + message));
  const std::string dots(100, '.');  // not of keys
  EXPECT_EQ(read_text("# " + dots + "\n[data]\ntrain = ['a" + dots + "', \"\\\"" + dots + "\"]\n", "run.toml", "/deck")
                .config.data.train[0],
            "/deck/a" + dots);
}

TEST(Read, OverridesWinTheLastOneMostAndMayDropQuotesAndBrackets) {
  const Config config =
      read_text(kMinimal + "[federation]\nrounds = 3\n", "run.toml", "/deck",
                {"federation.rounds=4", "federation.rounds=5", "aggregation.divergence=fedavg", "model.encoder=\"rbf\"",
                 "data.leave_out_types=0,1", "training.learning_rate=1e-3", "data.train=x.csv,/abs/y.csv",
                 "data.time_unit=hours since = start", "output.progress=false"})
          .config;
  EXPECT_EQ(config.federation.rounds, 5);
  EXPECT_EQ(config.aggregation.divergence, Divergence::kFedavg);
  EXPECT_EQ(config.model.encoder, Encoder::kRbf);
  EXPECT_EQ(config.data.leave_out_types, (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(config.training.learning_rate, 1e-3);
  EXPECT_EQ(config.data.train[0], (std::filesystem::current_path() / "x.csv").string());
  EXPECT_EQ(config.data.train[1], "/abs/y.csv");
  EXPECT_EQ(config.data.time_unit, "hours since = start");
  EXPECT_FALSE(config.output.progress);
}

TEST(Read, EncoderAndMeanFollowTheProtocolUnlessTheyAreGiven) {
  const auto model = [](const std::vector<std::string>& overrides) {
    return read_text(kMinimal, "run.toml", "/deck", overrides).config.model;
  };
  EXPECT_EQ(model({}).encoder, Encoder::kDecay);
  EXPECT_EQ(model({}).mean, PriorMean::kLinear);
  EXPECT_EQ(model({"model.mean=constant"}).mean, PriorMean::kConstant);
  for (const std::string encoder : {"rbf", "deep-kernel", "lstm", "attention"})
    EXPECT_EQ(model({"model.encoder=" + encoder}).mean, PriorMean::kConstant) << encoder;
  EXPECT_EQ(model({"data.protocol=population", "data.test=b.csv"}).encoder, Encoder::kDeepKernel);
  EXPECT_EQ(model({"data.protocol=population", "data.test=b.csv"}).mean, PriorMean::kConstant);
}

TEST(Read, WhatTheProgramWroteBeforeAKeyWasThereMeansWhatItMeantThen) {
  const Config config =
      read_text(kMinimal + "[model]\nencoder = 'lstm'\n", "run.toml", "/deck", {}, Written::kByTheProgram).config;
  EXPECT_EQ(config.model.mean, PriorMean::kConstant);
  EXPECT_TRUE(config.model.time_input);
  EXPECT_EQ(config.data.partition, Partition::kHeterogeneous);
}

TEST(Read, TheDivergenceFollowsTheModeUnlessItIsGiven) {
  const auto divergence = [](const std::vector<std::string>& overrides) {
    return read_text(kMinimal, "run.toml", "/deck", overrides).config.aggregation.divergence;
  };
  EXPECT_EQ(divergence({}), Divergence::kKl);
  EXPECT_EQ(divergence({"federation.mode=local"}), Divergence::kKl);
  for (const std::string mode : {"fedavg", "fedprox", "per-fedavg", "ditto", "fedala", "apple"}) {
    EXPECT_EQ(divergence({"federation.mode=" + mode}), Divergence::kFedavg);
    EXPECT_EQ(divergence({"federation.mode=" + mode, "aggregation.divergence=auto"}), Divergence::kFedavg);
    EXPECT_EQ(divergence({"federation.mode=" + mode, "aggregation.divergence=kl"}), Divergence::kKl);
  }
  EXPECT_EQ(divergence({"aggregation.scope=structural-entropy"}), Divergence::kKl);
  EXPECT_EQ(divergence({"aggregation.scope=similarity-graph"}), Divergence::kFedavg);
}

TEST(Read, TheRealisationFollowsProtocolAndEncoderAndParticipantsTheClientsUnlessTheyAreGiven) {
  const auto read = [](const std::vector<std::string>& overrides) {
    return read_text(kMinimal, "run.toml", "/deck", overrides).config;
  };
  EXPECT_EQ(read({}).data.realisation, Realisation::kPooled);
  EXPECT_EQ(read({"model.encoder=rbf"}).data.realisation, Realisation::kPerSequence);
  for (const auto* encoder : {"model.encoder=decay", "model.encoder=lstm", "model.encoder=attention"}) {
    EXPECT_EQ(read({encoder}).data.realisation, Realisation::kPooled) << encoder;
    EXPECT_EQ(read({encoder, "data.realisation=per-sequence"}).data.realisation, Realisation::kPerSequence) << encoder;
  }
  EXPECT_EQ(read({"model.encoder=rbf", "data.realisation=pooled"}).data.realisation, Realisation::kPooled);
  EXPECT_EQ(read({"data.protocol=population", "data.test=b.csv"}).data.realisation, Realisation::kPooled);
  EXPECT_EQ(read({}).federation.participants, 10);
  EXPECT_EQ(read({"data.clients=3"}).federation.participants, 3);
}

TEST(Read, RelativeDataFilesStartAtTheFilesFolder) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "fedpp_read_relative";
  std::filesystem::create_directories(folder / "deck");
  std::ofstream(folder / "deck" / "run.toml") << "[data]\nclient_files = '../sites/{client}.csv'\n";
  EXPECT_EQ(read(folder / "deck" / "run.toml").config.data.client_files, (folder / "sites/{client}.csv").string());
}

TEST(Read, RemembersWhereValuesWereGiven) {
  const Origins origins =
      read_text(kMinimal + "[federation]\n  rounds = 3\n", "run.toml", "/deck", {"model.width=8"}).origins;
  EXPECT_EQ(origins.at("federation.rounds"), "run.toml:4:3");
  EXPECT_EQ(origins.at("model.width"), "--set model.width=8");
  EXPECT_EQ(origins.count("model.window"), 0u);
}

TEST(ReadError, UnknownKeySuggestsTheNearestOne) {
  EXPECT_EQ(error_of(kMinimal + "[federation]\npartcipants = 3\n"),
            "run.toml:4:1: unknown key federation.partcipants: did you mean federation.participants?");
}

TEST(ReadError, UnknownKeySaysWhichSectionHasIt) {
  EXPECT_EQ(error_of(kMinimal + "[federation]\ninducing = 3\n"),
            "run.toml:4:1: unknown key federation.inducing: it belongs to [model]");
}

TEST(ReadError, UnknownKeyFarFromAllListsTheSection) {
  EXPECT_THAT(error_of(kMinimal + "[backend]\ncolour = 3\n"),
              HasSubstr("backend.colour: [backend] has: dense, workspace_mb"));
}

TEST(ReadError, UnknownSectionSuggestsTheNearestOne) {
  EXPECT_EQ(error_of(kMinimal + "[fedration]\nrounds = 3\n"),
            "run.toml:3:2: unknown section [fedration]: did you mean [federation]?");
}

TEST(ReadError, KeyOutsideAnySectionSaysWhereItBelongs) {
  EXPECT_EQ(error_of("rounds = 3\n" + kMinimal),
            "run.toml:1:1: unknown section [rounds]: the key rounds belongs under [federation]");
}

TEST(ReadError, SectionUsedAsKey) {
  EXPECT_THAT(error_of("model = 3\n" + kMinimal), HasSubstr("run.toml:1:9: model = 3: is a section"));
}

TEST(ReadError, WrongTypesNameKeyValueAndWhatIsExpected) {
  EXPECT_EQ(error_of(kMinimal + "[federation]\nrounds = \"ten\"\n"),
            "run.toml:4:1: federation.rounds = \"ten\": expected an integer, in [1, 10000000]");
  EXPECT_THAT(error_of(kMinimal + "[federation]\nrounds = 1.5\n"),
              HasSubstr("federation.rounds = 1.5: expected an integer"));
  EXPECT_THAT(error_of(kMinimal + "[model]\nwindow = true\n"),
              HasSubstr("model.window = true: expected a number, in [1e-100, 1e+100]"));
  EXPECT_THAT(error_of(kMinimal + "[output]\nprogress = 1\n"),
              HasSubstr("output.progress = 1: expected true or false"));
  EXPECT_THAT(error_of("[data]\ntrain = 'a.csv'\n"), HasSubstr("data.train = \"a.csv\": expected a list of strings"));
  EXPECT_THAT(error_of(kMinimal + "[model]\nperiods = [1, 'x']\n"),
              HasSubstr("model.periods = a list: expected a list of numbers"));
  EXPECT_THAT(error_of(kMinimal + "[model]\nwidth = 2020-01-01\n"), HasSubstr("model.width = a date or time"));
  EXPECT_THAT(error_of(kMinimal + "[model.encoder]\nx = 1\n"), HasSubstr("model.encoder = a table"));
}

TEST(ReadError, NotToml) {
  EXPECT_THAT(error_of("[data]\ntrain = [\n"), StartsWith("run.toml:"));
  EXPECT_THAT(error_of("[data]\nclock = calendar\n"), HasSubstr("run.toml:2:"));
  EXPECT_THAT(error_of("[data]\nclients = 1\nclients = 2\n"), HasSubstr("run.toml:3:"));
}

TEST(ReadError, Overrides) {
  EXPECT_THAT(error_with({"rounds=3"}), HasSubstr("--set rounds=3: not of the form section.key=value"));
  EXPECT_THAT(error_with({"federation.rounds"}), HasSubstr("not of the form section.key=value"));
  EXPECT_EQ(error_with({"federation.ruonds=3"}),
            "--set federation.ruonds=3: unknown key federation.ruonds: did you mean federation.rounds?");
  EXPECT_EQ(error_with({"modle.width=3"}), "--set modle.width=3: unknown section modle: did you mean [model]?");
  EXPECT_EQ(error_with({"federation.rounds=ten"}),
            "--set federation.rounds=ten: expected an integer, in [1, 10000000]");
  EXPECT_EQ(error_with({"federation.rounds="}), "--set federation.rounds=: expected an integer, in [1, 10000000]");
  EXPECT_THAT(error_with({"federation.rounds=2.5"}), HasSubstr("federation.rounds = 2.5: expected an integer"));
}

TEST(ReadError, AllMistakesAreListedAtOnce) {
  const std::string text = error_of(kMinimal + "[model]\nwdith = 3\nwindow = 'x'\n", {"modle.a=1"});
  EXPECT_THAT(text, HasSubstr("model.wdith"));
  EXPECT_THAT(text, HasSubstr("model.window"));
  EXPECT_THAT(text, HasSubstr("modle"));
}

TEST(ReadError, MissingFileAndFolder) {
  EXPECT_THROW(read("/no/such/run.toml"), fedpp::UserError);
  EXPECT_THROW(read(testing::TempDir()), fedpp::UserError);
}

TEST(Dump, ReadsBackToTheSameConfigurationToTheLastBit) {
  Config config = read_text(kMinimal, "run.toml", "/deck").config;
  config.data.time_unit = "quote \" backslash \\ tab \t end";
  config.data.clock = Clock::kCalendar;
  config.model.periods = {1.0 / 3.0, 86400};
  config.training.epsilon = 5e-324;
  config.federation.seed = 9007199254740993;  // not a double
  config.data.leave_out_types = {1, 2};
  const Config again = read_text(dump(config), "dump", "/elsewhere").config;
  EXPECT_EQ(to_json(again).dump(), to_json(config).dump());
  EXPECT_EQ(again.model.periods, config.model.periods);
  EXPECT_EQ(again.training.epsilon, config.training.epsilon);
  EXPECT_EQ(again.federation.seed, config.federation.seed);
  EXPECT_EQ(dump(again), dump(config));
}

TEST(Dump, DocumentsHelpAndAllowedValues) {
  const std::string text = dump(Config{});
  EXPECT_THAT(text, HasSubstr("[aggregation]\n# how uploads are combined"));
  EXPECT_THAT(text, HasSubstr("(\"uniform\", \"events\")\nweights = \"uniform\"\n"));
  EXPECT_THAT(text, HasSubstr("in (0, 1]"));
}

TEST(Json, HoldsEveryKey) {
  const auto json = to_json(Config{});
  EXPECT_EQ(json["federation"]["rounds"], 100);
  EXPECT_EQ(json["data"]["train"].size(), 0u);
  EXPECT_EQ(json["output"]["progress"], true);
  EXPECT_EQ(json.size(), 9u);
}
