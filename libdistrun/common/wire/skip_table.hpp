#pragma once
// The exit codes by which a rank reports a skip, and their texts. They are those of PyTorch's distributed test harness
// (TEST_SKIPS), so that tools for its results can read distrun's.
#include <optional>
#include <string_view>

namespace distrun::wire {

inline constexpr int kTestErrorExitCode = 10;  // "the body raised"

struct SkipEntry {
  std::string_view name;
  int exit_code;
  std::string_view message;
};

// Returns nullopt if the code is not a skip.
std::optional<SkipEntry> find_skip(int exit_code) noexcept;
std::optional<SkipEntry> find_skip(std::string_view name) noexcept;

}  // namespace distrun::wire
