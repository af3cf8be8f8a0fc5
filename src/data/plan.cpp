// Who holds what: files, dealing, clock.
#include <fmt/format.h>

#include <cmath>

#include "config/error.hpp"
#include "data/catalogue.hpp"
#include "data/dataset.hpp"
#include "data/deal.hpp"
#include "data/plan_options.hpp"
#include "data/seen_types.hpp"

namespace fedpp::data {

Plan make_plan(const config::Data& options, double window, std::uint64_t seed) {
  check_options(options);
  if (!(window > 0 && std::isfinite(window)))
    throw UserError(fmt::format("model.window = {}: a positive length is needed", window));
  Plan plan;
  plan.options = options;
  plan.seed = seed;
  plan.origin = options.drop ? options.drop_before : 0.0;
  plan.sources = list_sources(options);
  const bool chronological = options.protocol == config::Protocol::kChronological;
  plan.clock.elapsed =
      options.clock == config::Clock::kElapsed || (options.clock == config::Clock::kAuto && chronological);
  plan.clock.window = window;
  if (plan.one_file_a_client()) return plan;

  read_catalogue(plan);
  plan.kept_types = keep_types(plan.extents.types, options.leave_out_types);
  deal(plan);
  return plan;
}

}  // namespace fedpp::data
