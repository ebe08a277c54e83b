#pragma once
#include <string_view>

#include <distrun/runner/outcome.hpp>

namespace distrun::history {

// What runner::name_of() was given. A name that a later version wrote is none of ours: infra-error, which says nothing
// about a test.
inline runner::Verdict verdict_named(std::string_view name) noexcept {
  for (int i = 0; i < runner::kVerdictCount; ++i) {
    const auto verdict = static_cast<runner::Verdict>(i);
    if (name == name_of(verdict)) return verdict;
  }
  return runner::Verdict::InfraError;
}

}  // namespace distrun::history
