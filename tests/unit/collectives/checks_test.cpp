// Outputs of collectives that share memory.
#include <distrun/runtime/collectives/checks.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/rng.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/core/views.hpp>

namespace distrun::collectives {
namespace {

constexpr char kShared[] = "share memory";

const GroupInfo& two_ranks() {
  static const GroupInfo info = [] {
    GroupInfo made;
    made.name = "world";
    made.ranks = {0, 1};
    made.rank = 0;
    return made;
  }();
  return info;
}

Checks checks() { return {two_ranks(), CallKind::AllGather, base::Location::here()}; }

bool are_refused(const TensorList& outputs, const TensorList& inputs) {
  try {
    checks().apart(outputs, inputs);
    return false;
  } catch (const Error& error) {
    REQUIRE(std::string(error.what()).find(kShared) != std::string::npos);
    return true;
  }
}

std::set<std::int64_t> places_of(const std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& strides,
                                 std::int64_t offset) {
  std::set<std::int64_t> places;
  for (std::int64_t i = 0; i < sizes[0]; ++i) {
    for (std::int64_t j = 0; j < sizes[1]; ++j) places.insert(offset + i * strides[0] + j * strides[1]);
  }
  return places;
}

TEST_CASE("strided outputs are refused if they have an element in common, and only then") {
  base::Rng random(7);
  const Tensor memory = tensor::zeros({400});
  const auto draw = [&](std::int64_t most) {
    return 1 + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(most)));
  };
  int refused = 0, taken = 0;
  for (int round = 0; round < 4000; ++round) {
    TensorList views;
    std::vector<std::set<std::int64_t>> places;
    for (int i = 0; i < 2; ++i) {
      const std::vector<std::int64_t> sizes{draw(4), draw(5)}, strides{draw(20), draw(6)};
      const std::int64_t offset = draw(40);
      views.push_back(
          tensor::as_strided(memory, tensor::Dims(std::span(sizes)), tensor::Dims(std::span(strides)), offset));
      places.push_back(places_of(sizes, strides, offset));
    }
    const auto is_in_first = [&](std::int64_t place) { return places[0].contains(place); };
    const bool do_meet = std::any_of(places[1].begin(), places[1].end(), is_in_first);
    REQUIRE(are_refused(views, {}) == do_meet);
    // The first is the output and the input of another rank the second.
    REQUIRE(are_refused({tensor::zeros({2}), views[0]}, {views[1], tensor::zeros({2})}) == do_meet);
    ++(do_meet ? refused : taken);
  }
  CHECK(refused > 500);
  CHECK(taken > 500);
}

TEST_CASE("columns of a matrix are outputs beside each other, and the own one may be the own input") {
  const Tensor matrix = tensor::zeros({4, 2});
  const TensorList columns{tensor::narrow(matrix, 1, 0, 1), tensor::narrow(matrix, 1, 1, 1)};
  CHECK_FALSE(are_refused(columns, {}));
  CHECK_FALSE(are_refused(columns, {columns[0]}));
  CHECK(are_refused({columns[0], columns[0]}, {}));
  CHECK(are_refused({columns[0], matrix}, {}));
}

TEST_CASE("an output with several elements in one place is refused before the exchange") {
  const TensorList expanded{tensor::expand(tensor::zeros({1}), {4})};
  const auto is_told = Catch::Contains("several elements of the output share memory");
  CHECK_THROWS_WITH(checks().output(expanded.front()), is_told);
  CHECK_THROWS_WITH(checks().apart(expanded, {}), is_told);
}

}  // namespace
}  // namespace distrun::collectives
