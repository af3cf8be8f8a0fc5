// Arrays that are made together (gpu/arrays.hpp), as parts of one allocation and each alone.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "gpu/arrays.hpp"

namespace {

using namespace fedpp::gpu;

template <class T>
std::vector<T> read(const Array<T>& array) {
  std::vector<T> host;
  to_host(array, host);
  return host;
}

class Arrays : public testing::TestWithParam<bool> {};

TEST_P(Arrays, have_what_was_asked_for) {
  std::vector<Index> first(100), second(33);
  std::iota(first.begin(), first.end(), 1);
  std::iota(second.begin(), second.end(), -500);
  const std::vector<Index> nothing;
  Array<Index> zeros, any, a, none, b, more_zeros;
  ArraySet<Index> set;
  set.zeros("zeros", zeros, 70);  // in no order of contents
  set.uninitialised("any", any, 5);
  set.upload("a", a, first);
  set.upload("none", none, nothing);
  set.upload("b", b, second);
  set.zeros("more_zeros", more_zeros, 1);
  set.make("set", GetParam());
  EXPECT_EQ(read(a), first);
  EXPECT_EQ(read(b), second);
  EXPECT_EQ(none.extent(0), 0u);
  EXPECT_EQ(read(zeros), std::vector<Index>(70, 0));
  EXPECT_EQ(read(more_zeros), std::vector<Index>(1, 0));
  EXPECT_EQ(any.extent(0), 5u);

  // None reaches into another.
  const Array<Index>* all[] = {&zeros, &any, &a, &b, &more_zeros};
  Index value = 0;
  for (const auto* array : all) Kokkos::deep_copy(*array, ++value);
  value = 0;
  for (const auto* array : all) EXPECT_EQ(read(*array), std::vector<Index>(array->extent(0), ++value));
}

TEST_P(Arrays, outlive_the_set_and_each_other) {
  const std::vector<double> host{1, 2, 3};
  Array<double> kept;
  {
    Array<double> other;
    ArraySet<double> set;
    set.upload("kept", kept, host);
    set.zeros("other", other, 1000);
    set.make("first", GetParam());
    set.zeros("other", other, 10);  // a set may be used again
    set.make("second", GetParam());
    EXPECT_EQ(other.extent(0), 10u);
  }
  EXPECT_EQ(read(kept), host);
}

TEST_P(Arrays, of_no_length_are_made_of_nothing) {
  ArraySet<double> set;
  set.make("empty", GetParam());
  Array<double> none;
  set.uninitialised("none", none, 0);
  set.make("none", GetParam());
  EXPECT_EQ(none.extent(0), 0u);
}

int allocated = 0;

/// Sets of the lengths asked for, made together as on a device, all held at a time. Returns the allocations.
int allocations_of(const std::vector<Index>& lengths) {
  namespace tools = Kokkos::Tools::Experimental;
  const auto before = tools::get_callbacks();
  allocated = 0;
  tools::set_allocate_data_callback([](auto, const char*, const void*, std::uint64_t) { ++allocated; });
  {
    std::vector<Array<float>> held(lengths.size()), more(lengths.size());
    for (std::size_t k = 0; k < lengths.size(); ++k) {
      ArraySet<float> set;
      set.zeros("held", held[k], lengths[k]);
      set.uninitialised("more", more[k], 1);
      set.make("set", /*together=*/true);
    }
    for (std::size_t k = 0; k < lengths.size(); ++k) {  // nobody else has them
      EXPECT_EQ(read(held[k]), std::vector<float>(held[k].extent(0), 0));
      Kokkos::deep_copy(held[k], static_cast<float>(k + 1));
      Kokkos::deep_copy(more[k], static_cast<float>(k + 1));
    }
    for (std::size_t k = 0; k < lengths.size(); ++k) {
      EXPECT_EQ(read(held[k]), std::vector<float>(held[k].extent(0), static_cast<float>(k + 1)));
      EXPECT_EQ(read(more[k]), std::vector<float>(1, static_cast<float>(k + 1)));
    }
  }
  tools::set_callbacks(before);
  return allocated;
}

TEST(Reserve, hands_out_again_what_nobody_holds) {
  if (allocations_of({5000, 300, 70000}) == 0) GTEST_SKIP() << "this Kokkos was built without its tools interface";
  EXPECT_EQ(allocations_of({5000, 300, 70000}), 0);  // the same round again
  EXPECT_EQ(allocations_of({70000, 5000, 300}), 0);
  EXPECT_EQ(allocations_of({4000, 200}), 0);         // a smaller one
  EXPECT_EQ(allocations_of({5000, 300, 90000}), 1);  // a larger one, in the place of another
  EXPECT_EQ(allocations_of({5000, 300, 90000}), 0);
  EXPECT_EQ(allocations_of({10, 10, 10, 10}), 4);  // much smaller ones: nothing as long is given away for them
  EXPECT_EQ(allocations_of({10, 90000, 10}), 0);
}

INSTANTIATE_TEST_SUITE_P(made, Arrays, testing::Bool(),
                         [](const auto& together) { return together.param ? "together" : "alone"; });

/// The flags of the mapping that holds an address, as the system lists them ("hg": large pages are asked for).
std::string flags_of_mapping(const void* address) {
  std::ifstream maps("/proc/self/smaps");
  bool holds = false;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::uintptr_t from = 0, to = 0;
    char dash = 0;
    if (words >> std::hex >> from >> dash >> to && dash == '-') {
      const auto at = reinterpret_cast<std::uintptr_t>(address);
      holds = from <= at && at < to;
    }
    if (holds && line.starts_with("VmFlags:")) return line + " ";
  }
  return "";
}

TEST(HugePages, are_asked_for_where_a_host_has_a_long_array) {
  if (!kHostBackend || !std::filesystem::exists("/sys/kernel/mm/transparent_hugepage/enabled"))
    GTEST_SKIP() << "no host whose system has large pages";
  Array<double> array;
  ArraySet<double> set;
  set.uninitialised("array", array, 1 << 20);
  set.make("set", /*together=*/false);
  EXPECT_NE(flags_of_mapping(array.data() + (1 << 19)).find(" hg "), std::string::npos);
}

}  // namespace
