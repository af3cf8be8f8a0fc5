#include "config/keys.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace fedpp::config {
namespace {

/// Collects the keys of one section.
struct KeyCollector {
  Section& section;

  template <class T>
  void operator()(const char* name, T& member, const char* help, std::optional<Range> range = std::nullopt) {
    section.keys.push_back({section.name, name, help, target(member), range});
  }

 private:
  template <class T>
  static Target target(T& member) {
    if constexpr (Choice<T>)
      return ChosenWord(member);
    else
      return &member;
  }
};

struct SectionCollector {
  std::vector<Section>& sections;

  template <class S>
  void section(const char* name, S& part, const char* help) {
    sections.push_back({name, help, {}});
    KeyCollector keys{sections.back()};
    part.visit(keys);
  }
};

std::string text(bool x) { return x ? "true" : "false"; }
std::string text(std::int64_t x) { return fmt::format("{}", x); }
std::string text(std::string_view x) { return toml_string(x); }
std::string text(double x) {
  std::string digits = fmt::format("{}", x);  // the shortest that reads back to the same bits
  if (digits.find_first_of(".en") == std::string::npos) digits += ".0";
  return digits;
}
template <class T>
std::string text(const std::vector<T>& list) {
  std::vector<std::string> items;
  items.reserve(list.size());
  for (const T& item : list) items.push_back(text(item));
  return fmt::format("[{}]", fmt::join(items, ", "));
}

std::string words_text(const ChosenWord& chosen) {
  std::vector<std::string> items;
  for (const std::string_view word : chosen.allowed()) items.push_back(toml_string(word));
  return fmt::format("{}", fmt::join(items, ", "));
}

/// "above 0", of infinities and NaN "finite and above 0".
std::string wanted(const Range& range, double x) {
  if (std::isfinite(x)) return range.text();
  return range.bounded() ? "finite and " + range.text() : "finite";
}
std::string number_fault(const Range& range, double x) {
  return range.contains(x) ? "" : fmt::format("must be {}", wanted(range, x));
}
template <class T>
std::string numbers_fault(const Range& range, const std::vector<T>& list) {
  for (const T item : list) {
    const auto x = static_cast<double>(item);
    if (!range.contains(x)) return fmt::format("{} is not {}", text(item), wanted(range, x));
  }
  return "";
}

}  // namespace

std::string toml_string(std::string_view raw) {
  std::string out = "\"";
  for (const char c : raw) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string Key::value_text() const {
  return std::visit(Overloaded{[](const ChosenWord& chosen) { return text(chosen.get()); },
                               [](const auto* member) { return text(*member); }},
                    target);
}

std::string Key::allowed_text() const {
  std::string type = std::visit(Overloaded{
                                    [](const ChosenWord& chosen) { return words_text(chosen); },
                                    [](bool*) { return std::string("true or false"); },
                                    [](std::int64_t*) { return std::string("an integer"); },
                                    [](double*) { return std::string("a number"); },
                                    [](std::string*) { return std::string("a string"); },
                                    [](std::vector<std::string>*) { return std::string("a list of strings"); },
                                    [](std::vector<std::int64_t>*) { return std::string("a list of integers"); },
                                    [](std::vector<double>*) { return std::string("a list of numbers"); },
                                },
                                target);
  if (!range) return type;
  const bool list = std::holds_alternative<std::vector<std::int64_t>*>(target) ||
                    std::holds_alternative<std::vector<double>*>(target);
  return fmt::format("{}, {}{}", type, list ? "each " : "", range->text());
}

std::string Key::fault() const {
  const Range numbers = range.value_or(Range{});
  return std::visit(Overloaded{
                        [](const auto&) { return std::string(); },
                        [&](std::int64_t* x) { return number_fault(numbers, static_cast<double>(*x)); },
                        [&](double* x) { return number_fault(numbers, *x); },
                        [&](std::vector<std::int64_t>* list) { return numbers_fault(numbers, *list); },
                        [&](std::vector<double>* list) { return numbers_fault(numbers, *list); },
                    },
                    target);
}

std::vector<Section> sections(Config& config) {
  std::vector<Section> list;
  SectionCollector collector{list};
  config.visit(collector);
  return list;
}

}  // namespace fedpp::config
