// The words of a table's column as numbers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace fedpp::data {

/// Different words in the order in which they are first met.
class Words {
 public:
  /// The place of a word, from 0; at the end where it is new.
  std::size_t place(std::string_view word);

  const std::vector<std::string>& words() const { return words_; }
  std::size_t size() const { return words_.size(); }

  /// Whether each is a whole number from 0 to `largest` as it is usually written: "7", not "07", which may mean more.
  bool are_numbers(std::int64_t largest) const;

  /// Places in the order of the words: by value where all are numbers, else by their bytes.
  std::vector<std::size_t> sorted() const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  std::unordered_map<std::string, std::size_t, Hash, std::equal_to<>> places_;
  std::vector<std::string> words_;
};

}  // namespace fedpp::data
