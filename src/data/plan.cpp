// Who holds what: files, dealing, clock.
#include <cassert>

#include "data/catalogue.hpp"
#include "data/dataset.hpp"
#include "data/deal.hpp"
#include "data/seen_types.hpp"
#include "data/sources.hpp"

namespace fedpp::data {

Plan make_plan(const config::Data& options, double window, std::uint64_t seed) {
  assert(options.clock != config::Clock::kAuto);  // config::settle() has said which
  Plan plan;
  plan.options = options;
  plan.seed = seed;
  plan.origin = options.drop ? options.drop_before : 0.0;
  plan.sources = list_sources(options);
  plan.clock.elapsed = options.clock == config::Clock::kElapsed;
  plan.clock.window = window;
  if (plan.one_file_a_client()) return plan;

  read_catalogue(plan);
  plan.kept_types = keep_types(plan.extents.types, options.leave_out_types);
  deal(plan);
  return plan;
}

}  // namespace fedpp::data
