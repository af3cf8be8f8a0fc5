// A key's enumeration without its type, for what walks over all keys.
#pragma once

#include <span>
#include <string_view>

#include "config/words.hpp"

namespace fedpp::config {

/// Refers to a member of a section that holds one of a few words.
class ChosenWord {
 public:
  template <Choice E>
  explicit ChosenWord(E& member)
      : member_(&member),
        allowed_(kWords<E>),
        get_([](const void* from) { return word(*static_cast<const E*>(from)); }),
        set_([](void* to, std::string_view text) {
          const auto value = from_word<E>(text);
          if (value) *static_cast<E*>(to) = *value;
          return value.has_value();
        }) {}

  std::string_view get() const { return get_(member_); }
  /// False, and nothing changes, where the enumeration has no such word.
  bool set(std::string_view text) const { return set_(member_, text); }
  std::span<const std::string_view> allowed() const { return allowed_; }

 private:
  void* member_;
  std::span<const std::string_view> allowed_;
  std::string_view (*get_)(const void*);
  bool (*set_)(void*, std::string_view);
};

}  // namespace fedpp::config
