#pragma once
// The life of a suite's fixture: in the suite's host, and in a rank around its tests.
//
// The object of a rank belongs to the thread that runs the rank's tests: enter_suite() makes it
// before the first one, leave_suite() ends it after the last. That of the host belongs to the
// process, from set_up_host() to tear_down_host().
#include <optional>
#include <string_view>

#include <distrun/plugin/sdk/plugin.h>
#include <distrun/plugin/sdk/detail/registry.hpp>
#include <distrun/plugin/sdk/options.hpp>

namespace distrun::detail {

// Sets the suite's fixture up, if there is one and it isn't yet; the rank has it then. False if that
// failed, which has been reported, or skipped, and then `skip` says why: to every test from then on.
bool enter_suite(const Registry& registry, std::string_view suite, Rank& rank, std::optional<Skip>& skip);
// DISTRUN_OK, also if there is no fixture, or _FAILED.
std::int32_t leave_suite(const distrun_rank& line);

// DISTRUN_OK, _FAILED, _SKIPPED or _NOT_FOUND.
std::int32_t set_up_host(const Registry& registry, std::string_view suite, const distrun_rank& line);
std::int32_t tear_down_host(std::string_view suite, const distrun_rank& line);

}  // namespace distrun::detail
