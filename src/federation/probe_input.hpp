// Reading of a probe case with every check that docs/probe.md promises.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "io/hdf5.hpp"

namespace fedpp::federation {

/// What is wrong with a case: dataset or attribute, and the reason.
struct MalformedCase : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Row-major.
struct Matrix {
  std::size_t rows = 0, columns = 0;
  std::vector<double> values;
  std::span<const double> row(std::size_t r) const { return {values.data() + r * columns, columns}; }
};

class ProbeInput {
 public:
  explicit ProbeInput(io::Group group) : group_(std::move(group)) {}

  [[noreturn]] void reject(const std::string& name, const std::string& reason) const {
    throw MalformedCase(fmt::format("'{}' {}", name, reason));
  }

  std::string text(const std::string& name) const {
    if (!group_.has_attribute(name)) reject(name, "is missing (an attribute of the group)");
    return group_.attribute<std::string>(name);
  }
  double number(const std::string& name) const {
    if (!group_.has_attribute(name)) reject(name, "is missing (an attribute of the group)");
    const double value = group_.attribute<double>(name);
    if (!std::isfinite(value)) reject(name, fmt::format("is {}: it must be finite", value));
    return value;
  }
  std::vector<double> vector(const std::string& name, std::optional<std::size_t> size = std::nullopt) const {
    auto values = read(name, 1).values;
    if (size && values.size() != *size) reject(name, fmt::format("has {} entries instead of {}", values.size(), *size));
    return values;
  }
  Matrix matrix(const std::string& name) const {
    auto array = read(name, 2);
    return {static_cast<std::size_t>(array.shape[0]), static_cast<std::size_t>(array.shape[1]),
            std::move(array.values)};
  }

 private:
  io::Array<double> read(const std::string& name, std::size_t rank) const {
    if (!group_.exists(name)) reject(name, "is missing");
    if (const auto dimensions = group_.shape(name).size(); dimensions != rank)
      reject(name, fmt::format("has {} dimensions instead of {}", dimensions, rank));
    auto array = group_.read<double>(name);
    for (const double value : array.values)
      if (!std::isfinite(value)) reject(name, fmt::format("holds {}: all values must be finite", value));
    return array;
  }

  io::Group group_;
};

}  // namespace fedpp::federation
