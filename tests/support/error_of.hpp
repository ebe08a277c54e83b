#pragma once
// Catches the error that a call throws, for inspection.
#include <catch2/catch.hpp>

#include <distrun/common/base/error.hpp>

namespace distrun::testing {

// Returns the error thrown by `call`. Fails the test case if nothing is thrown.
template <class Call>
Error error_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  FAIL("nothing was thrown");
  throw;
}

}  // namespace distrun::testing
