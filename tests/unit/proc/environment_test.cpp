#include <catch2/catch.hpp>

#include <cstdlib>
#include <string>

#include <distrun/runner/proc/environment.hpp>

using namespace distrun::proc;

TEST_CASE("of equal names in environments the last counts, in the same list or a later one") {
  const Variables first{"A=1", "B=1", "A=2"};
  const Variables second{"B=2=3", "C="};
  CHECK(merged({&first, &second}) == Variables{"A=2", "B=2=3", "C="});
  CHECK(merged({}).empty());
}

TEST_CASE("a variable is found by its whole name, also if its value is empty") {
  const Variables variables{"PATH=/bin", "PATHS=x", "EMPTY=", "PATH=/usr/bin", "ODD"};
  CHECK(find_variable(variables, "PATH") == std::string("/usr/bin"));
  CHECK(find_variable(variables, "EMPTY") == std::string());
  CHECK(find_variable(variables, "PAT") == nullptr);
  CHECK(find_variable(variables, "ODD") == nullptr);
}

TEST_CASE("the environment of this process is whole") {
  ::setenv("DISTRUN_UNIT_PROC", "a=b", 1);
  CHECK(find_variable(own_environment(), "DISTRUN_UNIT_PROC") == std::string("a=b"));
  ::unsetenv("DISTRUN_UNIT_PROC");
  CHECK(find_variable(own_environment(), "DISTRUN_UNIT_PROC") == nullptr);
}
