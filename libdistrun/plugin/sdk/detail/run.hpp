#pragma once
// Runs one test on one rank.
#include <string_view>

#include <distrun/plugin/sdk/plugin.h>
#include <distrun/plugin/sdk/detail/registry.hpp>

namespace distrun::detail {

// Returns DISTRUN_OK, _FAILED, _SKIPPED or _NOT_FOUND; failures have been reported through `line`. Throws only before
// the test.
std::int32_t run_test(const Registry& registry, std::string_view test_id, const distrun_rank& line);

}  // namespace distrun::detail
