#pragma once
// The exit codes by which a rank says that it skips, and their texts. They are those of PyTorch's
// distributed test harness (TEST_SKIPS), so that what reads its results reads ours.
#include <optional>
#include <string_view>

namespace distrun::wire {

inline constexpr int kTestErrorExitCode = 10;  // "the body raised"

struct SkipEntry {
  std::string_view name;
  int exit_code;
  std::string_view message;
};

// Empty if the code is no skip.
std::optional<SkipEntry> find_skip(int exit_code) noexcept;
std::optional<SkipEntry> find_skip(std::string_view name) noexcept;

}  // namespace distrun::wire
