#pragma once
// What whoever runs a test may ask for more, or other, of.
#include <cstdlib>

namespace distrun::testing {

// Of the environment; `otherwise` if it is not there.
inline unsigned long number_of(const char* variable, unsigned long otherwise) {
  const char* const text = std::getenv(variable);
  return text != nullptr ? std::strtoul(text, nullptr, 10) : otherwise;
}

}  // namespace distrun::testing
