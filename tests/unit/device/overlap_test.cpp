#include <distrun/runtime/device/overlap.hpp>

#include <set>

#include <catch2/catch.hpp>

#include <distrun/common/base/rng.hpp>

namespace distrun::device {
namespace {

Region region(std::intptr_t begin, std::size_t element, Dims sizes, Dims strides) {
  Region made;
  made.begin = reinterpret_cast<void*>(begin);
  made.element_bytes = element;
  made.sizes = std::move(sizes);
  made.strides = std::move(strides);
  return made;
}

bool overlap_of(const Region& a, const Region& b) { return overlap(*lattice_of(a), *lattice_of(b)); }

// Returns the bytes one by one.
std::set<std::int64_t> bytes_of(const Region& region) {
  std::set<std::int64_t> starts{static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(region.begin))};
  const auto element = static_cast<std::int64_t>(region.element_bytes);
  for (std::size_t i = 0; i < region.sizes.size(); ++i) {
    std::set<std::int64_t> next;
    for (const std::int64_t start : starts) {
      for (std::int64_t k = 0; k < region.sizes[i]; ++k) next.insert(start + k * region.strides[i] * element);
    }
    starts = next;
  }
  std::set<std::int64_t> bytes;
  for (const std::int64_t start : starts) {
    for (std::int64_t k = 0; k < element; ++k) bytes.insert(start + k);
  }
  return bytes;
}

Region random_region(base::Rng& rng) {
  Region made = region(static_cast<std::intptr_t>(1000 + rng.below(60)), std::size_t{1} << rng.below(4), {}, {});
  for (std::uint64_t i = rng.below(4); i > 0; --i) {
    made.sizes.push_back(static_cast<std::int64_t>(1 + rng.below(4)));
    made.strides.push_back(static_cast<std::int64_t>(rng.below(14)) - 3);
  }
  return made;
}

TEST_CASE("columns of a matrix have no byte in common") {
  constexpr std::int64_t kRows = 1'000'000;
  const Region first = region(4096, 4, {kRows}, {2});
  const Region second = region(4100, 4, {kRows}, {2});
  CHECK_FALSE(overlap_of(first, second));
  CHECK(overlap_of(first, first));
  CHECK(overlap_of(second, region(4096, 1, {kRows}, {1})));
}

TEST_CASE("blocks are compared exactly, as byte by byte") {
  base::Rng rng(11);
  int common = 0;
  for (int i = 0; i < 20'000; ++i) {
    const Region a = random_region(rng);
    const Region b = random_region(rng);
    const std::set<std::int64_t> of_a = bytes_of(a);
    const std::set<std::int64_t> of_b = bytes_of(b);
    bool expected = false;
    for (const std::int64_t byte : of_a) expected |= of_b.contains(byte);
    const Lattice lattice = *lattice_of(a);
    REQUIRE(lattice.begin == *of_a.begin());
    REQUIRE(lattice.end == *of_a.rbegin() + 1);
    REQUIRE(overlap(lattice, *lattice_of(b)) == expected);
    REQUIRE(overlap(*lattice_of(b), lattice) == expected);
    if (covers(lattice, *lattice_of(b))) REQUIRE(std::includes(of_a.begin(), of_a.end(), of_b.begin(), of_b.end()));
    common += expected;
  }
  CHECK(common > 2000);
  CHECK(common < 18'000);
}

TEST_CASE("a region without elements has no lattice") {
  CHECK_FALSE(lattice_of(region(4096, 4, {3, 0}, {1, 1})).has_value());
  CHECK_FALSE(lattice_of(flat_region(nullptr, 0, Access::Read)).has_value());
}

TEST_CASE("a contiguous region is one run") {
  const Lattice lattice = *lattice_of(region(4096, 4, {2, 3, 5}, {15, 5, 1}));
  CHECK(lattice.steps.empty());
  CHECK(lattice.run == 120);
  const Lattice broadcast = *lattice_of(region(4096, 4, {7, 3}, {0, 1}));
  CHECK(broadcast.steps.empty());
  CHECK(broadcast.run == 12);
  CHECK(lattice_of(region(4096, 4, {4, 2, 3}, {40, 20, 1}))->steps.size() == 1);
}

}  // namespace
}  // namespace distrun::device
