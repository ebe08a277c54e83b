#pragma once
// Environment variables with which the user of a test changes its numbers or its extent.
#include <cstdlib>

namespace distrun::testing {

// Returns the number in an environment variable, or `otherwise` if it is not set.
inline unsigned long number_of(const char* variable, unsigned long otherwise) {
  const char* const text = std::getenv(variable);
  return text != nullptr ? std::strtoul(text, nullptr, 10) : otherwise;
}

// Returns whether repetitive tests run in full: every isolation, world size and device of a suite, every order of
// events of a model. This takes much longer; scripts/check-all release does it.
inline bool runs_whole() { return std::getenv("DISTRUN_WHOLE_TESTS") != nullptr; }

}  // namespace distrun::testing
