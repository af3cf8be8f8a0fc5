// Random clients of ragged sizes, the same for the reference and on the device.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "gpu/dense.hpp"
#include "gpu/encoder.hpp"
#include "gpu/encoder_operator.hpp"
#include "gpu/kernels.hpp"
#include "gpu/reference.hpp"

namespace fedpp::test {

/// The implementations of the dense linear algebra that this backend has.
inline std::vector<std::string> dense_names() {
  return gpu::kHostBackend ? std::vector<std::string>{"team", "blas"} : std::vector<std::string>{"team"};
}

/// Chooses an implementation, and the backend's own again at the end.
class DenseChoice {
 public:
  explicit DenseChoice(const std::string& name) : trace_(__FILE__, __LINE__, "dense = " + name) {
    gpu::choose_dense(name);
  }
  ~DenseChoice() { gpu::choose_dense("auto"); }
  DenseChoice(const DenseChoice&) = delete;
  DenseChoice& operator=(const DenseChoice&) = delete;

 private:
  testing::ScopedTrace trace_;
};

/// A deep kernel of 8 features on a window of 100.
inline const reference::Kernel kDeep{true, 8, 100, {}};

/// Sizes of one realisation: M, N events and Q nodes.
struct Size {
  int inducing, events, nodes;
};

class RandomClients {
 public:
  explicit RandomClients(unsigned seed) : engine_(seed) {}

  double normal() { return normal_(engine_); }
  double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(engine_); }

  /// Weights apart from each other by much more than training would, and a posterior and an m, nu of no special
  /// meaning.
  reference::Client client(const reference::Kernel& kernel, int samples, const std::vector<Size>& sizes) {
    reference::Client c;
    c.kernel = kernel;
    const std::size_t p = kernel.parameters();
    const double lengthscale = kernel.deep ? 0.5 * std::sqrt(static_cast<double>(kernel.width)) : 0.15 * kernel.window;
    for (int s = 0; s < samples; ++s) {
      reference::Vector w(p);
      for (double& x : w) x = normal();
      w[p - 2] *= 0.3;
      w[p - 1] = std::log(lengthscale) + 0.2 * w[p - 1];
      c.weights.push_back(w);
    }
    for (const Size& size : sizes) c.realisations.push_back(realisation(kernel, size));
    c.rate = uniform(0.5, 3);
    c.offset = 0.5 * normal();
    return c;
  }

  reference::Realisation realisation(const reference::Kernel& kernel, const Size& size) {
    reference::Realisation r;
    for (int j = 0; j < size.inducing; ++j)
      r.inducing.push_back(size.inducing == 1 ? kernel.window / 2 : kernel.window * j / (size.inducing - 1));
    for (int n = 0; n < size.events; ++n) {
      r.time.push_back(n == 4 ? r.time[2] : uniform(0, kernel.window));  // a tie left unmerged is legal, too
      r.multiplicity.push_back(n % 3 == 1 ? 2 : 1);
      r.node_weight.push_back(0);
    }
    for (int q = 0; q < size.nodes; ++q) {
      r.time.push_back(uniform(0, kernel.window));
      r.multiplicity.push_back(0);
      r.node_weight.push_back(uniform(0.1, 2) * kernel.window / size.nodes);
    }
    const std::size_t m = static_cast<std::size_t>(size.inducing);
    r.factor = reference::Matrix(m, m);
    for (std::size_t i = 0; i < m; ++i) {
      r.v_mean.push_back(normal());
      for (std::size_t j = 0; j < i; ++j) r.factor(i, j) = 0.3 * normal() / std::sqrt(static_cast<double>(m));
      r.factor(i, i) = uniform(0.2, 1);
    }
    return r;
  }

 private:
  std::mt19937_64 engine_;
  std::normal_distribution<double> normal_;
};

inline gpu::Encoder encoder_of(const reference::Kernel& kernel) {
  gpu::EncoderShape e;
  e.kind = kernel.deep ? gpu::EncoderKind::kDeepKernel : gpu::EncoderKind::kRbf;
  e.width = static_cast<int>(kernel.width);
  e.inputs = kernel.deep ? 1 + 2 * static_cast<int>(kernel.periods.size()) : 1;
  e.linear_mean = kernel.linear_mean;
  return gpu::make_encoder(e);
}

/// What the encoder sees of the times.
inline std::vector<double> inputs_of(const reference::Kernel& kernel, const std::vector<double>& times) {
  std::vector<double> x;
  for (const double t : times) {
    x.push_back(kernel.deep ? 2 * t / kernel.window - 1 : t);
    for (const auto& [angular, phase] : kernel.periods)
      if (kernel.deep) x.insert(x.end(), {std::sin(angular * t + phase), std::cos(angular * t + phase)});
  }
  return x;
}

/// The clients as one batch on the device; positions of the parts on the host, in the order of the batch.
struct DeviceBatch {
  gpu::Batch batch;
  gpu::Fields fields;
  std::unique_ptr<gpu::EncoderOperator> encoder;

  /// \param share realisations whose inducing points are those of the one before use its factor of K(z,z)
  explicit DeviceBatch(const std::vector<reference::Client>& clients,
                       gpu::Precision precision = gpu::Precision::kDouble, bool share = false) {
    std::vector<gpu::ClientExtent> extents;
    std::vector<gpu::RealisationExtent> realisations;
    std::vector<double> input, multiplicity, node_weight, inducing_input, v_mean, factor, weights, rate, offset, jitter,
        least;
    std::vector<std::int64_t> ids;
    const auto append = [](std::vector<double>& all, const std::vector<double>& part) {
      all.insert(all.end(), part.begin(), part.end());
    };
    for (std::size_t k = 0; k < clients.size(); ++k) {
      const auto& c = clients[k];
      extents.push_back({static_cast<int>(c.weights.size()), encoder_of(c.kernel), precision});
      for (const auto& w : c.weights) append(weights, w);
      const std::vector<double>* before = nullptr;
      for (const auto& r : c.realisations) {
        realisations.push_back({static_cast<int>(k),
                                static_cast<int>(r.inducing.size()),
                                static_cast<int>(r.time.size()),
                                {},
                                share && before && *before == r.inducing});
        before = &r.inducing;
        append(input, inputs_of(c.kernel, r.time));
        append(multiplicity, r.multiplicity);
        append(node_weight, r.node_weight);
        append(inducing_input, inputs_of(c.kernel, r.inducing));
        append(v_mean, r.v_mean);
        for (std::size_t column = 0; column < r.factor.columns; ++column)
          for (std::size_t row = 0; row < r.factor.rows; ++row) factor.push_back(r.factor(row, column));
      }
      rate.push_back(c.rate);
      offset.push_back(c.offset);
      jitter.push_back(c.jitter);
      least.push_back(c.least_events);
      ids.push_back(static_cast<std::int64_t>(k));
    }
    batch = gpu::make_batch(extents, realisations);
    fields = gpu::make_fields(batch, true);
    fields.input = gpu::to_device<double>("input", input);
    fields.multiplicity = gpu::to_device<double>("multiplicity", multiplicity);
    fields.node_weight = gpu::to_device<double>("node_weight", node_weight);
    fields.inducing_input = gpu::to_device<double>("inducing_input", inducing_input);
    fields.v_mean = gpu::to_device<double>("v_mean", v_mean);
    fields.v_factor = gpu::to_device<double>("v_factor", factor);
    fields.weights = gpu::to_device<double>("weights", weights);
    fields.rate = gpu::to_device<double>("rate", rate);
    fields.offset = gpu::to_device<double>("offset", offset);
    fields.base_jitter = gpu::to_device<double>("base_jitter", jitter);
    fields.least_events = gpu::to_device<double>("least_events", least);
    fields.client_id = gpu::to_device<std::int64_t>("client_id", ids);
    encoder = gpu::make_encoder_operator(batch, fields, true);
  }

  void forward() const {
    const gpu::Exec exec;
    gpu::embed(exec, batch, fields, *encoder);
    gpu::factorise(exec, batch, fields);
    gpu::features(exec, batch, fields);
  }
};

template <class T>
std::vector<T> host(const gpu::Array<T>& device) {
  Kokkos::fence();
  std::vector<T> values;
  gpu::to_host(device, values);
  return values;
}

/// Takes pieces off a batch-wide array in order.
class Pieces {
 public:
  explicit Pieces(const gpu::Array<double>& device) : values_(host(device)) {}
  explicit Pieces(const gpu::Array<float>& device) {
    const auto single = host(device);
    values_.assign(single.begin(), single.end());
  }
  std::vector<double> take(std::size_t n) {
    EXPECT_LE(next_ + n, values_.size());
    std::vector<double> piece(values_.begin() + static_cast<std::ptrdiff_t>(next_),
                              values_.begin() + static_cast<std::ptrdiff_t>(next_ + n));
    next_ += n;
    return piece;
  }
  bool all_taken() const { return next_ == values_.size(); }

 private:
  std::vector<double> values_;
  std::size_t next_ = 0;
};

/// |a - b| <= tolerance times the largest |b|.
inline void expect_close(const std::vector<double>& got, const std::vector<double>& wanted, double tolerance,
                         const std::string& what) {
  ASSERT_EQ(got.size(), wanted.size()) << what;
  double largest = 0;
  for (const double x : wanted) largest = std::max(largest, std::fabs(x));
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], wanted[i], tolerance * std::max(largest, 1e-300)) << what << ", entry " << i;
}

/// F'F of a lower triangular F [m x m], column-major.
inline reference::Matrix covariance_of(const std::vector<double>& factor, std::size_t m) {
  reference::Matrix lower(m, m);
  for (std::size_t row = 0; row < m; ++row)
    for (std::size_t column = 0; column < m; ++column) lower(row, column) = factor[row + column * m];
  return reference::covariance(lower);
}

/// Column-major entries of a row-major matrix.
inline std::vector<double> columns_of(const reference::Matrix& a) {
  std::vector<double> out;
  for (std::size_t c = 0; c < a.columns; ++c)
    for (std::size_t r = 0; r < a.rows; ++r) out.push_back(a(r, c));
  return out;
}

}  // namespace fedpp::test
