#pragma once
// Listing the tests of a plugin over the C line.
#include <distrun/plugin/sdk/plugin.h>
#include <distrun/plugin/sdk/detail/registry.hpp>

namespace distrun::detail {

// Adds every test to `list`, or, if any declaration is wrong, adds nothing and says all that is
// through list.fail. DISTRUN_OK or DISTRUN_INVALID.
std::int32_t list_tests(const Registry& registry, const distrun_list& list);

}  // namespace distrun::detail
