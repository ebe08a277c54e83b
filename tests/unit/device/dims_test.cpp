#include <distrun/runtime/device/dims.hpp>

#include <catch2/catch.hpp>

#include <distrun/common/base/error.hpp>

namespace distrun::device {
namespace {

Dims counted(std::size_t count) {
  Dims dims;
  for (std::size_t i = 0; i < count; ++i) dims.push_back(static_cast<std::int64_t>(i));
  return dims;
}

TEST_CASE("dims have the values that they are created from, inline and on the heap") {
  for (const std::size_t count : {0u, 1u, 5u, 6u, 64u}) {
    const Dims dims = counted(count);
    REQUIRE(dims.size() == count);
    for (std::size_t i = 0; i < count; ++i) CHECK(dims[i] == static_cast<std::int64_t>(i));
    CHECK(Dims(dims.to_vector()) == dims);
  }
  CHECK(Dims(3, 7) == Dims{7, 7, 7});
  CHECK(Dims(6, 7).back() == 7);
}

TEST_CASE("dims are copied, moved and assigned between inline and heap storage") {
  for (const std::size_t from : {2u, 5u, 6u, 10u}) {
    for (const std::size_t to : {2u, 5u, 6u, 10u}) {
      const Dims source = counted(from);
      Dims target = counted(to);
      target = source;
      CHECK(target == source);
      Dims moved = std::move(target);
      CHECK(moved == source);
      target = counted(to);
      target = std::move(moved);
      CHECK(target == source);
      target = *&target;
      CHECK(target == source);
    }
  }
}

TEST_CASE("a dimension can be inserted and removed anywhere") {
  Dims dims{1, 2, 3, 4, 5};
  dims.insert(0, 0);
  CHECK(dims == Dims{0, 1, 2, 3, 4, 5});
  dims.insert(6, 6);
  dims.insert(3, 9);
  CHECK(dims == Dims{0, 1, 2, 9, 3, 4, 5, 6});
  dims.erase(3);
  dims.erase(0);
  dims.erase(5);
  CHECK(dims == Dims{1, 2, 3, 4, 5});
  dims.erase(4);
  CHECK(dims == Dims{1, 2, 3, 4});
}

TEST_CASE("more than 64 dimensions are refused") {
  CHECK_THROWS_WITH(counted(65), Catch::Contains("at most 64 dimensions"));
  CHECK_THROWS_AS(Dims(65, 1), Error);
}

TEST_CASE("elements are counted, and too many refused") {
  CHECK(count_of({}) == 1);
  CHECK(count_of({2, 3, 4}) == 24);
  CHECK(count_of({std::int64_t{1} << 40, 0, std::int64_t{1} << 40}) == 0);
  CHECK_THROWS_WITH(count_of({std::int64_t{1} << 40, std::int64_t{1} << 40}), Catch::Contains("more elements"));
}

TEST_CASE("contiguous strides are row-major") {
  CHECK(contiguous_strides({}) == Dims{});
  CHECK(contiguous_strides({2, 3, 4}) == Dims{12, 4, 1});
  CHECK(contiguous_strides({2, 0, 4}) == Dims{4, 4, 1});
  CHECK(to_string(Dims{2, 3}) == "[2, 3]");
}

}  // namespace
}  // namespace distrun::device
