// The encoders of docs/encoders.md written once more as plain loops on the host, straight from the equations: one
// point, one token and one weight vector at a time, nothing shared with the kernels. Generic in the scalar: Tangents
// carry derivatives along K directions of the weights (forward mode), exact to rounding.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace fedpp::encoder_reference {

using Vector = std::vector<double>;

/// For the innermost loops below, which would be most of the time of a test under sanitizers.
#define FEDPP_NOT_SANITIZED __attribute__((no_sanitize("address", "undefined")))

/// value + sum_k along[k] e_k, e_j e_k = 0.
template <std::size_t K>
struct Tangents {
  double value = 0;
  double along[K] = {};  // no std::array: its operator[] is sanitized
  Tangents() = default;
  Tangents(double v) : value(v) {}  // NOLINT: constants mix with dual numbers
};
/// f(a) of value f and slope f'(a).
template <std::size_t K>
FEDPP_NOT_SANITIZED Tangents<K> chain(const Tangents<K>& a, double f, double slope) {
  Tangents<K> out(f);
  for (std::size_t k = 0; k < K; ++k) out.along[k] = slope * a.along[k];
  return out;
}
template <std::size_t K>
FEDPP_NOT_SANITIZED Tangents<K>& operator+=(Tangents<K>& a, const Tangents<K>& b) {
  a.value += b.value;
  for (std::size_t k = 0; k < K; ++k) a.along[k] += b.along[k];
  return a;
}
template <std::size_t K>
Tangents<K> operator+(Tangents<K> a, const Tangents<K>& b) {
  return a += b;
}
template <std::size_t K>
FEDPP_NOT_SANITIZED Tangents<K> operator*(const Tangents<K>& a, const Tangents<K>& b) {
  Tangents<K> out(a.value * b.value);
  for (std::size_t k = 0; k < K; ++k) out.along[k] = a.along[k] * b.value + a.value * b.along[k];
  return out;
}
template <std::size_t K>
Tangents<K> operator*(const Tangents<K>& a, double b) {
  return chain(a, a.value * b, b);
}
template <std::size_t K>
FEDPP_NOT_SANITIZED Tangents<K> operator/(const Tangents<K>& a, const Tangents<K>& b) {
  Tangents<K> out(a.value / b.value);
  for (std::size_t k = 0; k < K; ++k) out.along[k] = (a.along[k] - out.value * b.along[k]) / b.value;
  return out;
}
template <std::size_t K>
Tangents<K> exp(const Tangents<K>& a) {
  const double e = std::exp(a.value);
  return chain(a, e, e);
}
template <std::size_t K>
Tangents<K> tanh(const Tangents<K>& a) {
  const double t = std::tanh(a.value);
  return chain(a, t, 1 - t * t);
}
template <std::size_t K>
Tangents<K> log1p(const Tangents<K>& a) {
  return chain(a, std::log1p(a.value), 1 / (1 + a.value));
}
using std::exp;
using std::log1p;
using std::tanh;
inline double value(double a) { return a; }
template <std::size_t K>
double value(const Tangents<K>& a) {
  return a.value;
}

/// 1 / (1 + e^-a), without overflow.
template <class T>
T sigma(const T& a) {
  return tanh(a * 0.5) * 0.5 + T(0.5);
}

enum class Kind { kRbf, kDeepKernel, kLstm, kAttention, kDecay };

/// Sums of the decay encoder.
constexpr std::size_t kSums = 6;

struct Model {
  Kind kind = Kind::kLstm;
  std::size_t width = 1, layers = 1, inputs = 1, type_width = 0, types = 0;  ///< H, L, I, A, K

  bool reads_types() const { return kind == Kind::kLstm || kind == Kind::kAttention; }
  bool reads_history() const { return reads_types() || kind == Kind::kDecay; }
  std::size_t dimension() const { return kind == Kind::kRbf ? inputs : width; }
  /// Length of w~.
  std::size_t weights() const {
    const std::size_t h = width, first = inputs + type_width;
    switch (kind) {
      case Kind::kRbf:
        return 0;
      case Kind::kDeepKernel:
        return h * (inputs + 1);
      case Kind::kLstm:
        return type_width * types + 4 * h * (first + h + 1) + (layers - 1) * 4 * h * (2 * h + 1);
      case Kind::kAttention:
        return type_width * types + h * (first + 1) + layers * (6 * h * (h + 1) + 1);
      case Kind::kDecay:
        return kSums + h * (inputs + kSums);
    }
    return 0;
  }
};

/// The tokens of one stream: their inputs [I each] and types.
struct Stream {
  std::vector<Vector> input;
  std::vector<std::size_t> type;
};

/// Where h is wanted: after the first `before` tokens of a stream.
struct Point {
  std::size_t stream = 0, before = 0;
  Vector input;
};

/// Reads matrices off a weight vector in the order of the layout.
template <class T>
class Reader {
 public:
  explicit Reader(const std::vector<T>& w) : next_(w.data()) {}
  const T* matrix(std::size_t rows, std::size_t columns) {
    const T* at = next_;
    next_ += rows * columns;
    return at;
  }

 private:
  const T* next_;
};

/// W x, W column-major with `rows` rows.
template <class T>
std::vector<T> product(const T* matrix, std::size_t rows, const std::vector<T>& x) {
  std::vector<T> out(rows, T(0));
  for (std::size_t c = 0; c < x.size(); ++c)
    for (std::size_t r = 0; r < rows; ++r) out[r] += matrix[c * rows + r] * x[c];
  return out;
}

template <class T>
std::vector<T> stack(std::vector<T> top, const std::vector<T>& bottom) {
  top.insert(top.end(), bottom.begin(), bottom.end());
  return top;
}

/// The embeddings of one stream's points for one weight vector.
template <class T>
class Encoder {
 public:
  Encoder(const Model& model, const std::vector<T>& weights, const Stream& stream) : model_(model) {
    Reader<T> reader(weights);
    const std::size_t h = model.width, first = model.inputs + model.type_width;
    if (model.kind == Kind::kDeepKernel) in_ = reader.matrix(h, model.inputs + 1);
    if (!model.reads_history()) return;
    if (model.kind == Kind::kDecay) {
      rates_ = reader.matrix(kSums, 1);
      in_ = reader.matrix(model.width, model.inputs + kSums);
      for (const auto& input : stream.input) times_.push_back(input[0]);
      return;
    }
    types_ = reader.matrix(model.type_width, model.types);
    if (model.kind == Kind::kLstm) {
      for (std::size_t l = 0; l < model.layers; ++l) gates_.push_back(reader.matrix(4 * h, (l ? h : first) + h + 1));
      after_.assign(1, State(model.layers, {std::vector<T>(h, T(0)), std::vector<T>(h, T(0))}));
    } else {
      in_ = reader.matrix(h, first + 1);
      for (std::size_t l = 0; l < model.layers; ++l) {
        const T* qkv = reader.matrix(3 * h, h + 1);
        const T* out = reader.matrix(h, h + 1);
        const T* inner = reader.matrix(h, h + 1);
        blocks_.push_back({qkv, out, inner, reader.matrix(h, h + 1)});
      }
      recency_ = reader.matrix(model.layers, 1);
      keys_.resize(model.layers);
    }
    for (std::size_t j = 0; j < stream.input.size(); ++j) {
      auto x = std::vector<T>(stream.input[j].begin(), stream.input[j].end());
      for (std::size_t a = 0; a < model.type_width; ++a) x.push_back(types_[stream.type[j] * model.type_width + a]);
      if (model.kind == Kind::kLstm)
        after_.push_back(step(after_.back(), x));
      else
        attend(x, j, true);
    }
  }

  std::vector<T> operator()(const Point& point) {
    auto x = std::vector<T>(point.input.begin(), point.input.end());
    if (model_.kind == Kind::kRbf) return x;
    if (model_.kind == Kind::kDeepKernel) return squashed(product(in_, model_.width, stack(x, {T(1)})));
    if (model_.kind == Kind::kDecay) return squashed(product(in_, model_.width, decayed(point)));
    x.resize(model_.inputs + model_.type_width, T(0));
    if (model_.kind == Kind::kLstm) return step(after_[point.before], x).back().output;
    return squashed(attend(x, point.before, false));
  }

 private:
  struct Layer {
    std::vector<T> output, cell;
  };
  using State = std::vector<Layer>;
  struct KeyValue {
    std::vector<T> key, value;
  };
  struct Block {
    const T *qkv, *out, *inner, *outer;
  };

  static std::vector<T> squashed(std::vector<T> x) {
    for (T& entry : x) entry = tanh(entry);
    return x;
  }

  /// [x_2 .. x_I ; log(1 + s) ; 1], each sum over all tokens before. Time does not run backwards from one to the next.
  std::vector<T> decayed(const Point& point) const {
    std::vector<T> out(point.input.begin() + 1, point.input.end());
    for (std::size_t k = 0; k < kSums; ++k) {
      T sum(0);
      double age = 0, next = point.input[0];
      for (std::size_t j = point.before; j-- > 0;) {
        age += std::fmax(next - times_[j], 0.0);
        next = times_[j];
        sum += exp(exp(rates_[k]) * -age);
      }
      out.push_back(log1p(sum));
    }
    out.push_back(T(1));
    return out;
  }

  State step(const State& before, std::vector<T> x) const {
    const std::size_t h = model_.width;
    State after;
    for (std::size_t l = 0; l < model_.layers; ++l) {
      const auto z = product(gates_[l], 4 * h, stack(stack(x, before[l].output), {T(1)}));
      Layer layer;
      for (std::size_t d = 0; d < h; ++d) {
        const T c = sigma(z[h + d]) * before[l].cell[d] + sigma(z[d]) * tanh(z[2 * h + d]);
        layer.cell.push_back(c);
        layer.output.push_back(sigma(z[3 * h + d]) * tanh(c));
      }
      x = layer.output;
      after.push_back(layer);
    }
    return after;
  }

  /// x_L of a token or point that sees the first `before` tokens and itself; a token is remembered.
  std::vector<T> attend(const std::vector<T>& input, std::size_t before, bool remember) {
    const std::size_t h = model_.width;
    auto x = product(in_, h, stack(input, {T(1)}));
    for (std::size_t l = 0; l < model_.layers; ++l) {
      const auto qkv = product(blocks_[l].qkv, 3 * h, stack(x, {T(1)}));
      const auto part = [&](std::size_t k) { return std::vector<T>(&qkv[k * h], &qkv[k * h] + h); };
      const auto query = part(0);
      const KeyValue self{part(1), part(2)};
      const auto seen = [&](std::size_t j) -> const KeyValue& { return j < before ? keys_[l][j] : self; };
      std::vector<T> score;
      double largest = -1e300;
      for (std::size_t j = 0; j <= before; ++j) {
        T dot(0);
        for (std::size_t d = 0; d < h; ++d) dot += query[d] * seen(j).key[d];
        score.push_back(dot * (1 / std::sqrt(static_cast<double>(h))) +
                        exp(recency_[l]) * -static_cast<double>(before - j));
        largest = std::fmax(largest, value(score.back()));
      }
      T total(0);
      std::vector<T> mixed(h, T(0));
      for (std::size_t j = 0; j <= before; ++j) {
        const T weight = exp(score[j] + T(-largest));
        total += weight;
        for (std::size_t d = 0; d < h; ++d) mixed[d] += weight * seen(j).value[d];
      }
      for (T& entry : mixed) entry = entry / total;
      auto y = product(blocks_[l].out, h, stack(mixed, {T(1)}));
      for (std::size_t d = 0; d < h; ++d) y[d] += x[d];
      const auto hidden = squashed(product(blocks_[l].inner, h, stack(y, {T(1)})));
      x = product(blocks_[l].outer, h, stack(hidden, {T(1)}));
      for (std::size_t d = 0; d < h; ++d) x[d] += y[d];
      if (remember) keys_[l].push_back(self);
    }
    return x;
  }

  Model model_;
  const T* types_ = nullptr;  // E
  const T* in_ = nullptr;
  const T* rates_ = nullptr;                 // log beta
  const T* recency_ = nullptr;               // [L] log of the slopes of attention
  Vector times_;                             // of the tokens
  std::vector<const T*> gates_;              // [L]
  std::vector<Block> blocks_;                // [L]
  std::vector<State> after_;                 // [tokens + 1] LSTM
  std::vector<std::vector<KeyValue>> keys_;  // [L][tokens] attention
};

/// h of every point; streams may be empty where the encoder reads none.
template <class T>
std::vector<std::vector<T>> embed(const Model& model, const std::vector<T>& weights, const std::vector<Stream>& streams,
                                  const std::vector<Point>& points) {
  std::vector<Encoder<T>> encoders;
  for (const auto& stream : streams) encoders.emplace_back(model, weights, stream);
  if (streams.empty()) encoders.emplace_back(model, weights, Stream{});
  std::vector<std::vector<T>> h;
  for (const auto& point : points) h.push_back(encoders[point.stream](point));
  return h;
}

/// Derivatives of sum_points adjoint' h along each direction.
inline Vector derivatives(const Model& model, const Vector& weights, const std::vector<Stream>& streams,
                          const std::vector<Point>& points, const std::vector<Vector>& adjoint,
                          const std::vector<Vector>& directions) {
  constexpr std::size_t kAtOnce = 8;
  Vector out;
  for (std::size_t first = 0; first < directions.size(); first += kAtOnce) {
    const std::size_t count = std::min(kAtOnce, directions.size() - first);
    std::vector<Tangents<kAtOnce>> w(weights.begin(), weights.end());
    for (std::size_t k = 0; k < count; ++k)
      for (std::size_t j = 0; j < directions[first + k].size(); ++j) w[j].along[k] = directions[first + k][j];
    const auto h = embed(model, w, streams, points);
    Tangents<kAtOnce> sum;
    for (std::size_t n = 0; n < h.size(); ++n)
      for (std::size_t d = 0; d < h[n].size(); ++d) sum += h[n][d] * adjoint[n][d];
    out.insert(out.end(), sum.along, sum.along + count);
  }
  return out;
}

}  // namespace fedpp::encoder_reference
