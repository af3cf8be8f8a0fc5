// The keys of a configuration as a flat list: everything that walks over all of them (reading, checking, writing) does
// so here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/chosen_word.hpp"
#include "config/options.hpp"

namespace fedpp::config {

/// What a key is stored in.
using Target = std::variant<bool*, std::int64_t*, double*, std::string*, std::vector<std::string>*,
                            std::vector<std::int64_t>*, std::vector<double>*, ChosenWord>;

struct Key {
  std::string section, name, help;
  Target target;
  std::optional<Range> range;  ///< of numbers

  std::string full_name() const { return section + "." + name; }
  /// The present value as TOML, on one line.
  std::string value_text() const;
  /// "true or false", "an integer, at least 1", "\"kl\", \"w2\"", "a list of numbers, each above 0", ...
  std::string allowed_text() const;
  /// What is wrong with the present value, "" where nothing is.
  std::string fault() const;
};

/// What to do with each kind of target.
template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

struct Section {
  std::string name, help;
  std::vector<Key> keys;
};

/// All sections with pointers into `config`, in the order of the list in options.hpp.
std::vector<Section> sections(Config& config);

/// A string as TOML: in quotes, with escapes.
std::string toml_string(std::string_view text);

}  // namespace fedpp::config
