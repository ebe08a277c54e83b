#include <catch2/catch.hpp>

#include <set>

#include <distrun/common/base/rng.hpp>

using namespace distrun::base;

TEST_CASE("one seed gives one stream") {
  Rng one(17);
  Rng two(17);
  Rng other(18);
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t value = one.next();
    CHECK(value == two.next());
    differs = differs || value != other.next();
  }
  CHECK(differs);
}

TEST_CASE("numbers below a bound reach all of them and none beyond") {
  Rng rng(1);
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(rng.below(7));
  CHECK(seen.size() == 7);
  CHECK(*seen.rbegin() == 6);
  CHECK(rng.below(1) == 0);
}

TEST_CASE("the unit interval is open at its end") {
  Rng rng(2);
  double least = 1.0;
  double most = 0.0;
  for (int i = 0; i < 10000; ++i) {
    const double value = rng.unit();
    least = std::min(least, value);
    most = std::max(most, value);
  }
  CHECK(least >= 0.0);
  CHECK(most < 1.0);
  CHECK(least < 0.01);
  CHECK(most > 0.99);
}

TEST_CASE("a derived seed depends on the seed and on the name, and on nothing else") {
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    for (const char* name : {"", "a", "b", "ab", "ba", "rank 0", "rank 1"}) {
      seen.insert(derive_seed(seed, name));
      CHECK(derive_seed(seed, name) == derive_seed(seed, name));
    }
  }
  CHECK(seen.size() == 50 * 7);
}

TEST_CASE("a run's id has as many hexadecimal digits as asked for and is new each time") {
  CHECK(random_hex(0).empty());
  const std::string id = random_hex(12);
  CHECK(id.size() == 12);
  CHECK(id.find_first_not_of("0123456789abcdef") == std::string::npos);
  CHECK(random_hex(12) != id);
  CHECK(random_seed() != random_seed());
}
