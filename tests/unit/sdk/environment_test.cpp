#include <distrun/plugin/sdk/environment.hpp>

#include <catch2/catch.hpp>

#include <cstdlib>

#include <distrun/common/base/error.hpp>

namespace {

using distrun::EnvironmentScope;

std::string value_of(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "(not set)" : value;
}

}  // namespace

TEST_CASE("variables are restored once a scope is left", "[sdk]") {
  const EnvironmentScope outer{{"SCOPE_A", "one"}, {"SCOPE_B", std::nullopt}};
  {
    const EnvironmentScope inner{{"SCOPE_A", std::nullopt}, {"SCOPE_B", "two"}, {"SCOPE_B", ""}};
    CHECK(value_of("SCOPE_A") == "(not set)");
    CHECK(value_of("SCOPE_B").empty());
  }
  CHECK(value_of("SCOPE_A") == "one");
  CHECK(value_of("SCOPE_B") == "(not set)");
}

TEST_CASE("an invalid variable is refused before anything is set", "[sdk]") {
  CHECK_THROWS_AS((EnvironmentScope{{"SCOPE_C", "x"}, {"", "y"}}), distrun::Error);
  CHECK_THROWS_AS((EnvironmentScope{{"SCOPE_C", "x"}, {"a=b", "y"}}), distrun::Error);
  CHECK(value_of("SCOPE_C") == "(not set)");
}
