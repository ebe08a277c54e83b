#include <distrun/runner/record/doctor/hang_cause.hpp>

#include <array>

namespace distrun::runner {
namespace {

constexpr std::array<const char*, kHangKindCount> kNames = {"deadlock",
                                                            "self-deadlock",
                                                            "held-lock",
                                                            "missing-rank",
                                                            "mismatched-collective",
                                                            "collective-order",
                                                            "unsent-message",
                                                            "lost-notification",
                                                            "full-or-empty-channel",
                                                            "child",
                                                            "stopped",
                                                            "traced",
                                                            "stuck-in-kernel",
                                                            "spinning",
                                                            "livelock",
                                                            "starved-pool",
                                                            "device-wait",
                                                            "not-started",
                                                            "stuck-at-exit",
                                                            "slow",
                                                            "unknown"};

}  // namespace

const char* name_of(HangKind kind) noexcept {
  const auto index = static_cast<std::size_t>(kind);
  return index < kNames.size() ? kNames[index] : "unknown";
}

std::optional<HangKind> try_find_hang_kind(std::string_view name) noexcept {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (name == kNames[i]) return static_cast<HangKind>(i);
  }
  return std::nullopt;
}

const char* name_of(Certainty certainty) noexcept {
  switch (certainty) {
    case Certainty::Unknown: return "unknown";
    case Certainty::Likely: return "likely";
    case Certainty::Proven: return "proven";
  }
  return "unknown";
}

}  // namespace distrun::runner
