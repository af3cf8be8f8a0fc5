#include "config/keys.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>

namespace fedpp::config {
namespace {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

/// Collects the keys of one section.
struct KeyCollector {
  Section& section;

  template <class T>
  void operator()(const char* name, T& member, const char* help) {
    add(name, &member, help, {});
  }
  template <class T>
  void operator()(const char* name, T& member, const char* help, Range range) {
    add(name, &member, help, range);
  }
  template <class T>
  void operator()(const char* name, T& member, const char* help, std::initializer_list<const char*> words) {
    add(name, &member, help, std::vector<std::string>(words.begin(), words.end()));
  }

 private:
  void add(const char* name, Target target, const char* help, Allowed allowed) {
    section.keys.push_back({section.name, name, help, target, std::move(allowed)});
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
std::string text(const std::string& x) { return toml_string(x); }
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

std::string number_fault(const Range& range, double x) {
  return range.contains(x) ? "" : fmt::format("must be {}", range.text());
}
template <class T>
std::string numbers_fault(const Range& range, const std::vector<T>& list) {
  for (const T x : list) {
    if (!range.contains(static_cast<double>(x))) return fmt::format("{} is not {}", text(x), range.text());
  }
  return "";
}

}  // namespace

std::string toml_string(const std::string& raw) {
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
  return std::visit([](const auto* member) { return text(*member); }, target);
}

std::string Key::allowed_text() const {
  if (const auto* words = std::get_if<std::vector<std::string>>(&allowed)) {
    std::vector<std::string> items;
    for (const std::string& word : *words) items.push_back(toml_string(word));
    return fmt::format("{}", fmt::join(items, ", "));
  }
  std::string type = std::visit(Overloaded{
                                    [](bool*) { return "true or false"; },
                                    [](std::int64_t*) { return "an integer"; },
                                    [](double*) { return "a number"; },
                                    [](std::string*) { return "a string"; },
                                    [](std::vector<std::string>*) { return "a list of strings"; },
                                    [](std::vector<std::int64_t>*) { return "a list of integers"; },
                                    [](std::vector<double>*) { return "a list of numbers"; },
                                },
                                target);
  const auto* range = std::get_if<Range>(&allowed);
  if (!range) return type;
  const bool list = std::holds_alternative<std::vector<std::int64_t>*>(target) ||
                    std::holds_alternative<std::vector<double>*>(target);
  return fmt::format("{}, {}{}", type, list ? "each " : "", range->text());
}

std::string Key::fault() const {
  if (const auto* words = std::get_if<std::vector<std::string>>(&allowed)) {
    const std::string& value = *std::get<std::string*>(target);
    return std::find(words->begin(), words->end(), value) != words->end() ? "" : "allowed are " + allowed_text();
  }
  const auto* given = std::get_if<Range>(&allowed);
  const Range range = given ? *given : Range{};
  return std::visit(Overloaded{
                        [](bool*) { return std::string(); },
                        [](std::string*) { return std::string(); },
                        [](std::vector<std::string>*) { return std::string(); },
                        [&](std::int64_t* x) { return number_fault(range, static_cast<double>(*x)); },
                        [&](double* x) { return number_fault(range, *x); },
                        [&](std::vector<std::int64_t>* list) { return numbers_fault(range, *list); },
                        [&](std::vector<double>* list) { return numbers_fault(range, *list); },
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
