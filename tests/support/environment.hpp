#pragma once
// What whoever runs a test may ask for more, or other, of.
#include <cstdlib>

namespace distrun::testing {

// Of the environment; `otherwise` if it is not there.
inline unsigned long number_of(const char* variable, unsigned long otherwise) {
  const char* const text = std::getenv(variable);
  return text != nullptr ? std::strtoul(text, nullptr, 10) : otherwise;
}

// Whether tests that do much the same many times do all of it: every isolation, world size and device of a suite, every
// order of events of a model. It takes much longer; scripts/check-all release does it.
inline bool runs_whole() { return std::getenv("DISTRUN_WHOLE_TESTS") != nullptr; }

}  // namespace distrun::testing
