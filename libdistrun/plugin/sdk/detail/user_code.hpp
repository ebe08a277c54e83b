#pragma once
// Runs user code on a rank or in a suite's host: reports what ends it early, and returns a result.
#include <cstdint>
#include <optional>

#include <distrun/common/base/throw_stack.hpp>
#include <distrun/plugin/sdk/check.hpp>
#include <distrun/plugin/sdk/context.hpp>
#include <distrun/plugin/sdk/detail/failure.hpp>
#include <distrun/plugin/sdk/options.hpp>

namespace distrun::detail {

// Returns whether the action ran to its end. If not, the reason has been reported or is in `skip`.
template <class Action>
bool guarded(Tally& tally, std::optional<Skip>& skip, Action action) {
  base::ThrowStack stack(keep_infos);
  try {
    stack.watch(action);
    return true;
  } catch (const CheckFailed&) {
    tally.mark_failed();
  } catch (const Skip& thrown) {
    skip = thrown;
  } catch (...) {
    tally.report(current_failure(stack));
  }
  return false;
}

// Runs a tear-down, where skipping is too late: the test's result has been reported.
template <class Action>
bool guarded_to_the_end(Tally& tally, base::Location where, Action action) {
  std::optional<Skip> skip;
  const bool ended = guarded(tally, skip, action);
  if (skip) tally.report({.type = "RuntimeError", .text = "skip: " + skip->reason, .where = where});
  return ended;
}

// Reports the number of checks. Returns DISTRUN_OK, _FAILED or _SKIPPED.
std::int32_t result_of(Rank& rank, const std::optional<Skip>& skip);

}  // namespace distrun::detail
