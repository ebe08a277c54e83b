#include <distrun/common/board/describe.hpp>

#include <algorithm>
#include <array>

#include <distrun/common/base/text.hpp>

namespace distrun::board {
namespace {

bool are_of_one_thread(const ShownWait& one, const ShownWait& other) {
  return one.in_body == other.in_body && one.tid == other.tid;
}

// Returns whether the thread of a wait runs a handler for another rank. Ranks do not see each other's thread ids.
bool runs_handler(const Shown& shown, const ShownWait& its) {
  return std::any_of(shown.waits.begin(), shown.waits.end(), [&](const ShownWait& wait) {
    const bool is_known = wait.tid != 0 || &wait == &its;
    return wait.kind == WaitKind::Handler && is_known && are_of_one_thread(wait, its);
  });
}

template <class IsOfThread>
const ShownWait* telling_wait(const Shown& shown, IsOfThread is_of_thread) {
  const ShownWait* found = nullptr;
  for (auto wait = shown.waits.rbegin(); wait != shown.waits.rend(); ++wait) {
    if (wait->kind == WaitKind::Handler || !is_of_thread(*wait)) continue;
    if (!wait->peers.empty()) return &*wait;
    const bool is_slice = found == nullptr || wait->kind == found->kind;
    if (is_slice) found = &*wait;
  }
  return found;
}

}  // namespace

const char* name_of(WaitKind kind) noexcept {
  static constexpr std::array<const char*, kWaitKindCount> kNames = {
      "barrier",    "receive",   "send",      "RPC reply", "future", "RRef confirmation",
      "collective", "store get", "pool slot", "backward",  "stream", "event",
      "wait",       "handler"};
  const auto index = static_cast<std::size_t>(kind);
  return index < kNames.size() ? kNames[index] : "?";
}

std::string describe(const ShownWait& wait, const base::RankHosts& hosts) {
  std::string text = name_of(wait.kind);
  if (!wait.name.empty()) text += " \"" + base::one_line(wait.name) + "\"";
  if (wait.id != 0) text += " #" + std::to_string(wait.id);
  if (wait.kind == WaitKind::Handler && !wait.peers.empty()) return text + " of " + hosts.label(wait.peers);
  if (wait.rule == PeerRule::None || wait.peers.empty()) return text;
  const bool any = wait.rule == PeerRule::Any && wait.peers.size() > 1;
  return text + (any ? " for any of " : " for ") + hosts.label(wait.peers);
}

std::string describe(const ShownOperation& operation, const base::RankHosts& hosts) {
  std::string text = name_of(operation.kind);
  if (!operation.name.empty()) text += " \"" + base::one_line(operation.name) + "\"";
  if (operation.peer < 0) return text;
  return text + (operation.kind == WaitKind::Receive ? " from " : " to ") + hosts.label(operation.peer);
}

const ShownWait* wait_of_body(const Shown& shown) {
  return telling_wait(shown, [](const ShownWait& wait) { return wait.in_body; });
}

const ShownWait* wait_of_thread(const Shown& shown, const ShownWait& its) {
  return telling_wait(shown, [&](const ShownWait& wait) { return are_of_one_thread(wait, its); });
}

const ShownWait* main_wait(const Shown& shown) {
  if (const ShownWait* const wait = wait_of_body(shown)) return wait;
  for (const ShownWait& wait : shown.waits) {
    if (!runs_handler(shown, wait)) return wait_of_thread(shown, wait);
  }
  return nullptr;
}

std::string doing(const Shown& shown) {
  if (shown.phase > wire::Phase::Body) return "has finished the test body";
  if (const ShownWait* const wait = main_wait(shown)) {
    const std::string site = site_of(*wait);
    return "waits in " + describe(*wait) + (site.empty() ? "" : " at " + site);
  }
  return shown.operations.empty() ? "" : "last operation: " + describe(shown.operations.back());
}

std::string site_of(const ShownWait& wait) {
  if (wait.file.empty()) return "";
  return base::one_line(wait.file.substr(wait.file.rfind('/') + 1)) + ":" + std::to_string(wait.line);
}

}  // namespace distrun::board
