#include <catch2/catch.hpp>

#include <cstdlib>

#include <distrun/runtime/collectives/debug_level.hpp>

#include "support/error_of.hpp"

namespace distrun::collectives {
namespace {

constexpr char kVariable[] = "TORCH_DISTRIBUTED_DEBUG";

TEST_CASE("the debug level is that of the environment, or the one that was set") {
  ::unsetenv(kVariable);
  set_debug_level_from_environment();
  CHECK(debug_level() == DebugLevel::Off);
  for (const auto& [value, level] :
       {std::pair("INFO", DebugLevel::Info), {"detail", DebugLevel::Detail}, {"Off", DebugLevel::Off}}) {
    ::setenv(kVariable, value, 1);
    set_debug_level_from_environment();
    CHECK(debug_level() == level);
  }
  set_debug_level(DebugLevel::Detail);
  CHECK(std::string(name_of(debug_level())) == "detail");
  ::setenv(kVariable, "loud", 1);
  CHECK_THAT(testing::error_of([] { set_debug_level_from_environment(); }).text(),
             Catch::Contains("must be OFF, INFO, or DETAIL, not \"loud\""));
  CHECK(debug_level() == DebugLevel::Detail);
  ::unsetenv(kVariable);
  set_debug_level_from_environment();
}

}  // namespace
}  // namespace distrun::collectives
