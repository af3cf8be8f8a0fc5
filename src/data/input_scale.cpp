#include "data/input_scale.hpp"

#include <fmt/format.h>

#include "config/error.hpp"
#include "data/dataset.hpp"
#include "io/shown.hpp"

namespace fedpp::data {

void adopt(Plan& plan, const InputScale& trained, bool embeds_types) {
  const auto name = [](const Clock& clock) { return clock.elapsed ? "elapsed" : "calendar"; };
  if (plan.clock.elapsed != trained.clock.elapsed)
    throw UserError(
        fmt::format("data.clock = '{}' (here the {} clock): the weights were trained on the {} clock; set data.clock = "
                    "\"{}\"",
                    config::word(plan.options.clock), name(plan.clock), name(trained.clock), name(trained.clock)));
  if (plan.clock.window != trained.clock.window)
    throw UserError(fmt::format("model.window = {}: the weights were trained with {}; set model.window = {}",
                                plan.clock.window, trained.clock.window, trained.clock.window));
  if (embeds_types && plan.extents.types > trained.types)
    throw UserError(
        fmt::format("data hold event type {}, the trained type embedding knows types 0 to {}: leave such types out "
                    "(data.leave_out_types), or train anew",
                    plan.extents.types - 1, trained.types - 1));
  if (const auto type = first_other_name(plan.type_names, trained.type_names); embeds_types && type)
    throw UserError(
        fmt::format("type {} is {} in the data, but {} in those that the type embedding was trained on: "
                    "import the table again with --like and a file of theirs",
                    *type, io::shown(plan.type_names[*type]), io::shown(trained.type_names[*type])));
  plan.clock = trained.clock;
}

}  // namespace fedpp::data
