#include "model/e_steps.hpp"

#include "gpu/averages.hpp"

namespace fedpp::model {

namespace {

const gpu::Batch& batch_of(const gpu::Batch& batch) { return batch; }
const gpu::Batch& batch_of(const gpu::Averages& averages) { return averages.batch; }

/// Source: a batch, with V for every sample of the weights, or averages.
template <class Source>
void update_latent_on(const gpu::Exec& exec, const Source& source, const gpu::Fields& fields) {
  const gpu::Region region("fedpp::update_latent");
  gpu::update_variational(exec, source, fields);
  gpu::moments(exec, source, fields);
  gpu::augment(exec, batch_of(source), fields);
}

template <class Source>
void e_steps_on(const gpu::Exec& exec, const Source& source, const gpu::Fields& fields, int count,
                double offset_precision) {
  const gpu::Batch& batch = batch_of(source);
  gpu::augment(exec, batch, fields);
  for (int step = 0; step < count; ++step) {  // each leaves moments and augmentation as the next one wants them
    update_latent_on(exec, source, fields);
    update_intensity(exec, batch, fields, offset_precision, /*with_bound=*/step + 1 == count);
  }
}

}  // namespace

void update_latent(const gpu::Exec& exec, const gpu::Batch& batch, const gpu::Fields& fields) {
  update_latent_on(exec, batch, fields);
}

void update_intensity(const gpu::Exec& exec, const gpu::Batch& batch, const gpu::Fields& fields,
                      double offset_precision, bool with_bound) {
  const gpu::Region region("fedpp::update_intensity");
  gpu::update_rate(exec, batch, fields);
  gpu::augment(exec, batch, fields);
  gpu::update_offset(exec, batch, fields, offset_precision, /*only_with_events=*/offset_precision == 0);
  gpu::augment(exec, batch, fields, with_bound);
}

void e_steps(const gpu::Exec& exec, const gpu::Batch& batch, const gpu::Fields& fields, int count,
             double offset_precision) {
  if (count > 0) e_steps_on(exec, batch, fields, count, offset_precision);
}

void averaged_e_steps(const gpu::Exec& exec, const gpu::Batch& batch, const gpu::Fields& fields, int count,
                      double offset_precision) {
  if (count == 0) return;
  const auto averages = [&] {
    const gpu::Region region("fedpp::average");
    return gpu::average(exec, batch, fields);
  }();
  gpu::moments(exec, averages, fields);
  e_steps_on(exec, averages, fields, count, offset_precision);
  exec.fence();  // averages end
}

}  // namespace fedpp::model
