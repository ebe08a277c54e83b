#include <distrun/common/board/describe.hpp>

#include <array>

#include <distrun/common/base/rank_list.hpp>
#include <distrun/common/base/text.hpp>

namespace distrun::board {

const char* name_of(WaitKind kind) noexcept {
  static constexpr std::array<const char*, kWaitKindCount> kNames = {
      "barrier",    "receive",   "send",      "RPC reply", "future", "RRef confirmation",
      "collective", "store get", "pool slot", "backward",  "stream", "event",
      "wait",       "handler"};
  const auto index = static_cast<std::size_t>(kind);
  return index < kNames.size() ? kNames[index] : "?";
}

std::string describe(const ShownWait& wait) {
  std::string text = name_of(wait.kind);
  if (!wait.name.empty()) text += " \"" + base::one_line(wait.name) + "\"";
  if (wait.id != 0) text += " #" + std::to_string(wait.id);
  if (wait.kind == WaitKind::Handler && !wait.peers.empty()) return text + " of " + base::ranks_label(wait.peers);
  if (wait.rule == PeerRule::None || wait.peers.empty()) return text;
  const bool any = wait.rule == PeerRule::Any && wait.peers.size() > 1;
  return text + (any ? " for any of " : " for ") + base::ranks_label(wait.peers);
}

std::string describe(const ShownOperation& operation) {
  std::string text = name_of(operation.kind);
  if (!operation.name.empty()) text += " \"" + base::one_line(operation.name) + "\"";
  if (operation.peer < 0) return text;
  return text + (operation.kind == WaitKind::Receive ? " from rank " : " to rank ") + std::to_string(operation.peer);
}

const ShownWait* main_wait(const Shown& shown) {
  const ShownWait* longest = nullptr;
  for (auto wait = shown.waits.rbegin(); wait != shown.waits.rend(); ++wait) {
    if (wait->kind == WaitKind::Handler) continue;
    if (wait->in_body) return &*wait;
    longest = &*wait;
  }
  return longest;
}

std::string doing(const Shown& shown) {
  if (shown.phase > wire::Phase::Body) return "has ended its test's body";
  if (const ShownWait* const wait = main_wait(shown)) {
    const std::string site = site_of(*wait);
    return "waits in " + describe(*wait) + (site.empty() ? "" : " at " + site);
  }
  return shown.operations.empty() ? "" : "did last: " + describe(shown.operations.back());
}

std::string site_of(const ShownWait& wait) {
  if (wait.file.empty()) return "";
  return base::one_line(wait.file.substr(wait.file.rfind('/') + 1)) + ":" + std::to_string(wait.line);
}

}  // namespace distrun::board
