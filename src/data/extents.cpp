// From the extents of the sequences to the clock and the common window.
#include "data/extents.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "config/client_pattern.hpp"
#include "config/error.hpp"
#include "data/seen_types.hpp"

namespace fedpp::data {
namespace {

// Lengths whose inverses and squares are normal numbers, with room for counts.
constexpr double kShortest = 1e-100, kLongest = 1e100;

}  // namespace

void extend(LocalExtents& extents, const RawSequence& raw, Split role, bool chronological) {
  for (int type : raw.types) extents.types = std::max<std::int64_t>(extents.types, type + 1);
  if (!chronological && role != kTrain) return;
  double start, end;
  if (raw.has_windows) {
    if (raw.windows.empty()) return;
    start = raw.windows.front().start;
    end = raw.windows.back().end;
  } else {
    if (raw.times.empty()) return;
    start = raw.times.front();
    end = raw.times.back();
  }
  extents.start = std::min(extents.start, start);
  extents.end = std::max(extents.end, end);
  extents.longest = std::max(extents.longest, end - start);
}

LocalExtents local_extents(const Plan& plan, std::span<const std::int64_t> owned) {
  if (!plan.one_file_a_client()) return plan.extents;
  LocalExtents extents;
  for (std::int64_t client : owned)
    for (const Source& source : plan.sources)
      read_source(
          {config::expand_client(source.path, client), config::expand_client(source.windows, client), source.role},
          plan.options, [&](RawSequence& raw) {
            extend(extents, raw, source.role, plan.options.protocol == config::Protocol::kChronological);
          });
  return extents;
}

void finish_plan(Plan& plan, const LocalExtents& all) {
  plan.extents = all;
  plan.kept_types = keep_types(all.types, plan.options.leave_out_types);
  if (plan.kept_types.empty() && plan.options.drop)
    throw UserError(
        fmt::format("data.drop_before = {}: no event{} comes then or later: name an earlier time, in {} of the file",
                    plan.options.drop_before,
                    plan.options.leave_out_types.empty() ? "" : " of a type that data.leave_out_types leaves",
                    plan.options.time_unit));
  if (plan.kept_types.empty()) throw UserError("data.leave_out_types leaves no type of event: keep at least one");
  const double length = plan.clock.elapsed ? all.longest : all.end - all.start;
  if (!(length > 0))
    throw UserError(fmt::format(
        "{}{}: no time passes in the {} data ({} kept types): give sequences with events at different "
        "times, or a windows table (data.windows)",
        plan.sources.front().path, plan.sources.size() > 1 ? ", ..." : "",
        plan.options.protocol == config::Protocol::kChronological ? "whole" : "training", plan.kept_types.size()));
  if (!(length > kShortest && length < kLongest))
    throw UserError(fmt::format(
        "{}{}: the {} data last {:.3g} {}, {}: give the times in another unit, or leave out those that are "
        "no times",
        plan.sources.front().path, plan.sources.size() > 1 ? ", ..." : "",
        plan.options.protocol == config::Protocol::kChronological ? "whole" : "training", length,
        plan.options.time_unit, length < 1 ? "too short for rates to be numbers" : "too long for rates to be numbers"));
  plan.clock.origin = plan.clock.elapsed ? 0.0 : all.start;
  plan.clock.scale = plan.clock.window / length;
  plan.window = {all.start, all.end};
  plan.finished = true;
}

}  // namespace fedpp::data
