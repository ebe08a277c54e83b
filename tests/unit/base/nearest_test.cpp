#include <distrun/common/base/nearest.hpp>

#include <catch2/catch.hpp>

using namespace distrun;
using base::did_you_mean;
using base::nearest;

TEST_CASE("the nearest name is found, if one is close enough") {
  using Names = std::vector<std::string>;
  const Names known = {"timeout", "timeout-scale", "backend", "seed", "env"};
  CHECK(nearest("timout", known) == Names{"timeout"});
  CHECK(nearest("bakcend", known) == Names{"backend"});
  CHECK(nearest("timeout-scala", known) == Names{"timeout-scale"});
  CHECK(nearest("sead", known) == Names{"seed"});
  CHECK(nearest("nev", known) == Names{"env"});
  CHECK(nearest("zebra", known).empty());
  CHECK(nearest("", known).empty());
  CHECK(nearest(std::string(1'000'000, 'x'), known).empty());
  CHECK(did_you_mean("enw", known) == "; did you mean env?");
  CHECK(did_you_mean("x", {}).empty());
  CHECK(did_you_mean("x", {"y"}).empty());
}

TEST_CASE("equally near names are found together, three at most and each once") {
  const std::vector<std::string> known = {"add", "and", "acd", "add", "aed", "sub"};
  CHECK(nearest("abd", known) == std::vector<std::string>{"add", "and", "acd"});
  CHECK(did_you_mean("abd", known) == "; did you mean add, and or acd?");
  CHECK(did_you_mean("ann", known) == "; did you mean and?");
  CHECK(did_you_mean("subb", known) == "; did you mean sub?");
}

TEST_CASE("a name that differs only in digits is another name") {
  const std::vector<std::string> known = {"worker0", "worker1", "step_10"};
  CHECK(nearest("worker7", known).empty());
  CHECK(nearest("step_9", known).empty());
  CHECK(nearest("step10", known) == std::vector<std::string>{"step_10"});
  CHECK(nearest("wroker1", known) == std::vector<std::string>{"worker1"});
}
