#pragma once
// The error that a call throws, to be looked at.
#include <catch2/catch.hpp>

#include <distrun/common/base/error.hpp>

namespace distrun::testing {

// Fails the test case if nothing is thrown.
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
