#include "commands/simulation_files.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <iterator>

#include "commands/action.hpp"
#include "config/counted.hpp"
#include "config/error.hpp"
#include "federation/result_file.hpp"
#include "io/atomic_file.hpp"
#include "io/sequence_file.hpp"
#include "io/suffix.hpp"

namespace fedpp::commands {
namespace {

/// OUT without its suffix plus another.
std::string beside(const std::string& out, const char* suffix) {
  return std::filesystem::path(out).replace_extension(suffix).string();
}

std::string windows_file(const std::string& out) { return beside(out, ".windows.csv"); }
std::string truth_file(const std::string& out) { return beside(out, ".truth.csv"); }
bool is_csv(const std::string& out) { return io::has_suffix(out, ".csv"); }

void write_csv(const std::string& out, const std::vector<data::SimulatedSequence>& sequences) {
  std::string events = "sequence,time,type\n", windows = "sequence,start,end\n";
  for (const data::SimulatedSequence& sequence : sequences) {
    for (std::size_t i = 0; i < sequence.times.size(); ++i) {
      fmt::format_to(std::back_inserter(events), "{},{},{}\n", sequence.id, sequence.times[i], sequence.types[i]);
    }
    fmt::format_to(std::back_inserter(windows), "{},{},{}\n", sequence.id, sequence.window.start, sequence.window.end);
  }
  io::write_file(out, events);
  io::write_file(windows_file(out), windows);
}

void write_hdf5(const std::string& out, const std::vector<data::SimulatedSequence>& sequences) {
  io::SequenceFileWriter writer(out, {"fedpp simulate"}, "file unit");
  for (const data::SimulatedSequence& sequence : sequences) {
    const std::array window{io::Window{sequence.window.start, sequence.window.end}};
    writer.append({.id = sequence.id, .times = sequence.times, .types = sequence.types}, window);
  }
  writer.close();
}

void write_truth(const std::string& file, const std::vector<data::CoxDraw>& draws) {
  std::string text = "draw,time,f,intensity\n";
  for (std::size_t draw = 0; draw < draws.size(); ++draw) {
    const data::CoxTruth& truth = draws[draw].truth;
    for (std::size_t g = 0; g < truth.grid.size(); ++g) {
      fmt::format_to(std::back_inserter(text), "{},{},{},{}\n", draw, truth.grid[g], truth.f[g], truth.intensity[g]);
    }
  }
  io::write_file(file, text);
}

}  // namespace

void check_simulation_files(const std::string& out, bool truth) {
  if (!is_csv(out) && !io::has_suffix(out, ".h5"))
    throw UserError(fmt::format("--out {}: the name must end in .csv or .h5", out));
  federation::refuse_what_training_keeps(out);
  io::check_writable(out);
  if (is_csv(out)) io::check_writable(windows_file(out));
  if (truth) io::check_writable(truth_file(out));
}

int write_simulation(const std::string& out, const std::vector<data::SimulatedSequence>& sequences) {
  if (is_csv(out)) {
    write_csv(out, sequences);
  } else {
    write_hdf5(out, sequences);
  }
  std::int64_t events = 0;
  for (const data::SimulatedSequence& sequence : sequences) events += static_cast<std::int64_t>(sequence.times.size());
  fmt::print("{}: {}, {}\n", out, config::counted(static_cast<std::int64_t>(sequences.size()), "sequence"),
             config::counted(events, "event"));
  return kSuccess;
}

int write_simulation(const std::string& out, const std::vector<data::CoxDraw>& draws) {
  std::vector<data::SimulatedSequence> all;
  for (const data::CoxDraw& draw : draws) {
    for (const data::SimulatedSequence& sequence : draw.sequences) {
      all.push_back(sequence);
      all.back().id = static_cast<std::int64_t>(all.size()) - 1;
    }
  }
  const int code = write_simulation(out, all);
  write_truth(truth_file(out), draws);
  return code;
}

}  // namespace fedpp::commands
