#include <distrun/common/board/describe.hpp>

#include <array>

#include <distrun/common/base/rank_list.hpp>
#include <distrun/common/base/text.hpp>

namespace distrun::board {

const char* name_of(WaitKind kind) noexcept {
  static constexpr std::array<const char*, kWaitKindCount> kNames = {
      "barrier",   "receive",  "send",   "RPC reply", "future", "RRef confirmation", "collective", "store get",
      "pool slot", "backward", "stream", "event",     "wait"};
  const auto index = static_cast<std::size_t>(kind);
  return index < kNames.size() ? kNames[index] : "?";
}

std::string describe(const ShownWait& wait) {
  std::string text = name_of(wait.kind);
  if (!wait.name.empty()) text += " \"" + base::one_line(wait.name) + "\"";
  if (wait.id != 0) text += " #" + std::to_string(wait.id);
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

std::string site_of(const ShownWait& wait) {
  if (wait.file.empty()) return "";
  return base::one_line(wait.file.substr(wait.file.rfind('/') + 1)) + ":" + std::to_string(wait.line);
}

}  // namespace distrun::board
