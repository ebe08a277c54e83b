#pragma once
// DISTRUN_ASSERT checks an invariant of distrun's own code, in every build. If it is broken, the macro prints the
// expression, its operands and the location on stderr and aborts: a clear crash of the caller.
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
