#pragma once
// Checks for errors of data-parallel training, worded as in other harnesses.
#include <string>
#include <string_view>

#include <distrun/runtime/nn/data_parallel.hpp>

namespace distrun::suites {

inline constexpr std::string_view kPriorReductionUnfinished =
    "Expected to have finished reduction in the prior iteration";
inline constexpr std::string_view kRecommendFindUnused = "passing the keyword argument `find_unused_parameters=True`";
inline constexpr std::string_view kFindUnusedIsOn = "Since `find_unused_parameters=True` is enabled";
inline constexpr std::string_view kOutputsNotUsedInLoss = "`forward` function outputs participate in calculating loss";
inline constexpr std::string_view kSuggestDebugMode =
    "set the environment variable TORCH_DISTRIBUTED_DEBUG to either INFO or DETAIL";

using nn::LoggingData;
// Throws Error{Failed, AssertionError} unless "iteration", "has_error" and "error" are there and the error contains the
// expected text. Text from a native stack on ("\nException raised from ") is ignored.
void verify_error_logged(const LoggingData& logged, std::string_view expected);

}  // namespace distrun::suites
