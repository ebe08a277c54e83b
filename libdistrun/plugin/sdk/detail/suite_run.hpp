#pragma once
// The life of a suite's fixture, in the suite's host and in a rank around its tests.
//
// A rank's object belongs to the thread that runs the rank's tests: enter_suite() creates it before the first one,
// leave_suite() destroys it after the last. The host's object belongs to the process, from set_up_host() to
// tear_down_host().
#include <optional>
#include <string_view>

#include <distrun/plugin/sdk/plugin.h>
#include <distrun/plugin/sdk/detail/registry.hpp>
#include <distrun/plugin/sdk/options.hpp>

namespace distrun::detail {

// Sets up the suite's fixture for the rank, if there is one and it is not set up yet. Returns false if that failed,
// which has been reported, or skipped: then every test gets the reason in `skip` from now on.
bool enter_suite(const Registry& registry, std::string_view suite, Rank& rank, std::optional<Skip>& skip);
// Returns DISTRUN_OK (also without a fixture) or _FAILED.
std::int32_t leave_suite(const distrun_rank& line);

// Returns DISTRUN_OK, _FAILED, _SKIPPED or _NOT_FOUND.
std::int32_t set_up_host(const Registry& registry, std::string_view suite, const distrun_rank& line);
std::int32_t tear_down_host(std::string_view suite, const distrun_rank& line);

}  // namespace distrun::detail
