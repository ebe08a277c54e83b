#pragma once
// DISTRUN_ASSERT: an invariant of our own code. It is on in every build; when broken it prints the
// expression, its operands and the place on stderr and aborts, so the caller becomes a clear crash.
#include <distrun/common/base/decompose.hpp>
#include <distrun/common/base/location.hpp>

namespace distrun::base {

[[noreturn]] void assertion_failed(const char* expression, const std::string& operands, Location where);

}  // namespace distrun::base

#define DISTRUN_ASSERT(...)                                                                                        \
  do {                                                                                                             \
    const ::distrun::base::CheckResult distrun_result = ::distrun::base::Decompose() <=> __VA_ARGS__;              \
    if (!distrun_result.holds) [[unlikely]]                                                                        \
      ::distrun::base::assertion_failed(#__VA_ARGS__, distrun_result.operands, ::distrun::base::Location::here()); \
  } while (false)
