#pragma once
// The kinds of frames between a coordinator and a node, which runs ranks on another machine. The messages are in
// runner/nodes/messages.hpp.
#include <cstdint>

namespace distrun::wire {

enum class NodeFrame : std::uint16_t {
  // The link itself, both ways (runner/nodes/link.hpp).
  Ping = 300,
  Pong = 301,
  Join = 302,     // the first frame of a node
  Refused = 303,  // why it may not join
  Joined = 304,   // it has joined
  // Sent by the coordinator.
  Welcome = 310,
  List = 311,
  Prepare = 312,
  Cancel = 313,
  Release = 314,
  Spawn = 315,
  ToRank = 316,
  Signal = 317,
  Collect = 318,
  NameStacks = 319,
  ConfirmOutput = 320,
  Sweep = 321,
  EndWorld = 322,
  Close = 323,
  Inspect = 324,
  Keep = 325,
  Renew = 326,
  ForgetOutput = 327,
  Begin = 328,
  Input = 329,
  TryPrivateTmp = 330,
  ReadTrace = 331,
  BeginLoad = 332,
  EndLoad = 333,
  // Sent by the node.
  Listed = 340,
  Prepared = 341,
  Spawned = 342,
  RankStarted = 343,
  FromRank = 344,
  ConnectionLost = 345,
  StrayChild = 346,
  RankEnded = 347,
  SpawnFailed = 348,
  Output = 349,
  State = 350,
  Collected = 351,
  Captured = 352,
  Swept = 353,
  Closed = 354,
  Inspected = 355,
  Ending = 356,  // a signal asks it to end
  ProgramBegan = 357,
  ConfirmInput = 358,
  TracePart = 359,
};
inline bool is_known(NodeFrame kind) noexcept {
  const auto number = static_cast<std::uint16_t>(kind);
  return (number >= 300 && number <= 304) || (number >= 310 && number <= 333) || (number >= 340 && number <= 359);
}

}  // namespace distrun::wire
