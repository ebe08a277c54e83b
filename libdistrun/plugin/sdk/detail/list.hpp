#pragma once
// Lists the tests of a plugin through the C interface.
#include <distrun/plugin/sdk/plugin.h>
#include <distrun/plugin/sdk/detail/registry.hpp>

namespace distrun::detail {

// Adds every test to `list`. If any declaration is wrong, adds none and reports all flaws to list.fail. Returns
// DISTRUN_OK or DISTRUN_INVALID.
std::int32_t list_tests(const Registry& registry, const distrun_list& list);

}  // namespace distrun::detail
