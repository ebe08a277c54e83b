#pragma once
// The expected results of the other ranks when a rank of an RPC group goes wrong. The table was written before the
// code.
//
// Each rank's init_rpc, its calls to that rank and to another one, and its shutdown end successfully or with an error
// that names the rank, within the row's bound plus a second.
#include <string>
#include <vector>

#include <distrun/common/base/clock.hpp>

#include "support/sandbox.hpp"

namespace distrun::rpc::testing {

inline constexpr int kRanks = 4;
inline const base::Nanoseconds kInitTimeout = distrun::testing::scaled(std::chrono::milliseconds(1000));
// The timeout of calls to a stopped rank.
inline const base::Nanoseconds kCallTimeout = distrun::testing::scaled(std::chrono::milliseconds(500));
inline const base::Nanoseconds kShutdownTimeout = distrun::testing::scaled(std::chrono::milliseconds(700));
inline constexpr base::Nanoseconds kAtOnce{};

enum class Fault {
  Dies,
  Exits,
  Stops,
  Leaves,  // by a shutdown that is not graceful, then the end of its process
  NeverStarts,
  NobodyAtAddress,
  NoAddress,
  LargerWorldFirst,  // reaches the store before the others
  LargerWorldLast,
  SameName,
  SameRank,
};
enum class Moment {
  Init,      // before it has registered
  Known,     // the others know it, and it is not running yet
  Unmet,     // init_rpc has returned, and there were no calls
  Idle,      // each has called each
  Call,      // each other rank waits for a call to it
  Shutdown,  // the others are in shutdown, and it enters
  Met,       // all have met in shutdown, and ask for calls in flight
};

enum class Ends { NotReached, Well, Named };
struct Phase {
  Ends ends = Ends::NotReached;
  base::Nanoseconds bound{};
};

struct Row {
  Fault fault;
  Moment moment;
  Phase init, call, shutdown;
  const char* why_not = "";  // no such cell
};

inline const Phase kNot{}, kWell{Ends::Well, kAtOnce}, kNamedAtOnce{Ends::Named, kAtOnce},
    kNamedInInit{Ends::Named, kInitTimeout}, kNamedInCall{Ends::Named, kCallTimeout},
    kNamedInShutdown{Ends::Named, kShutdownTimeout};

inline const std::vector<Row>& session_table() {
  using F = Fault;
  using M = Moment;
  static const std::vector<Row> table = {
      {F::Dies, M::Init, kNamedInInit, kNot, kNot},
      {F::Dies, M::Known, kWell, kNamedAtOnce, kNamedAtOnce},
      {F::Dies, M::Unmet, kWell, kNot, kNamedInShutdown},
      {F::Dies, M::Idle, kWell, kNamedAtOnce, kNamedAtOnce},
      {F::Dies, M::Call, kWell, kNamedAtOnce, kNamedAtOnce},
      {F::Dies, M::Shutdown, kWell, kNot, kNamedAtOnce},
      {F::Dies, M::Met, kWell, kNot, kNamedAtOnce},

      {F::Exits, M::Init, kNamedInInit, kNot, kNot},
      {F::Exits, M::Known, kWell, kNamedAtOnce, kNamedAtOnce},
      {F::Exits, M::Unmet, kWell, kNot, kNamedInShutdown},
      {F::Exits, M::Idle, kWell, kNamedAtOnce, kNamedAtOnce},
      {F::Exits, M::Call, kWell, kNamedAtOnce, kNamedAtOnce},
      {F::Exits, M::Shutdown, kWell, kNot, kNamedAtOnce},
      {F::Exits, M::Met, kWell, kNot, kNamedAtOnce},

      {F::Stops, M::Init, kNamedInInit, kNot, kNot},
      {F::Stops, M::Known, kWell, kNamedInCall, kNamedInShutdown},
      {F::Stops, M::Unmet, kWell, kNot, kNamedInShutdown},
      {F::Stops, M::Idle, kWell, kNamedInCall, kNamedInShutdown},
      {F::Stops, M::Call, kWell, kNamedInCall, kNamedInShutdown},
      {F::Stops, M::Shutdown, kWell, kNot, kNamedInShutdown},
      {F::Stops, M::Met, kWell, kNot, kNamedInShutdown},

      {F::Leaves, M::Init, kNot, kNot, kNot, "there is no session to leave"},
      {F::Leaves, M::Known, kNot, kNot, kNot, "there is no session to leave"},
      {F::Leaves, M::Unmet, kWell, kNot, kNamedInShutdown},
      {F::Leaves, M::Idle, kWell, kNamedAtOnce, kNamedAtOnce},
      {F::Leaves, M::Call, kWell, kNamedAtOnce, kNamedAtOnce},
      {F::Leaves, M::Shutdown, kWell, kNot, kNamedAtOnce},
      {F::Leaves, M::Met, kNot, kNot, kNot, "a session is shut down once"},

      {F::NeverStarts, M::Init, kNamedInInit, kNot, kNot},
      {F::NeverStarts, M::Known, kNot, kNot, kNot, "no worker learns of it, and all stay in init_rpc"},

      {F::NobodyAtAddress, M::Init, kNot, kNot, kNot, "no worker checks an address before it calls"},
      {F::NobodyAtAddress, M::Known, kWell, kNamedAtOnce, kNamedInShutdown},
      {F::NobodyAtAddress, M::Idle, kNot, kNot, kNot, "it has not been called, or it has a connection, which is right"},
      {F::NoAddress, M::Init, kNamedAtOnce, kNot, kNot},
      {F::NoAddress, M::Known, kNot, kNot, kNot, "init_rpc has refused it"},

      {F::LargerWorldFirst, M::Init, kNamedAtOnce, kNot, kNot},
      {F::LargerWorldLast, M::Init, kNamedInInit, kNot, kNot},
      {F::LargerWorldLast, M::Known, kNot, kNot, kNot, "init_rpc has refused it"},
      {F::SameName, M::Init, kNamedAtOnce, kNot, kNot},
      {F::SameName, M::Known, kNot, kNot, kNot, "init_rpc has refused it"},
      {F::SameRank, M::Init, kNamedInInit, kNot, kNot},
      {F::SameRank, M::Known, kNot, kNot, kNot, "init_rpc has refused it"},
  };
  return table;
}

inline std::string sentence(Fault fault) {
  switch (fault) {
    case Fault::Dies: return "is killed";
    case Fault::Exits: return "exits silently";
    case Fault::Stops: return "is stopped";
    case Fault::Leaves: return "leaves by a shutdown that is not graceful";
    case Fault::NeverStarts: return "never starts";
    case Fault::NobodyAtAddress: return "publishes an address where no worker listens";
    case Fault::NoAddress: return "publishes an invalid address";
    case Fault::LargerWorldFirst: return "arrives first with a larger world size";
    case Fault::LargerWorldLast: return "arrives last with a larger world size";
    case Fault::SameName: return "has the name of another";
    case Fault::SameRank: return "has the rank of another";
  }
  return "";
}
inline std::string sentence(Moment moment) {
  switch (moment) {
    case Moment::Init: return "before the others know it";
    case Moment::Known: return "when the others know it";
    case Moment::Unmet: return "before any call";
    case Moment::Idle: return "when all are idle";
    case Moment::Call: return "while the others wait for calls to it";
    case Moment::Shutdown: return "when it arrives in shutdown";
    case Moment::Met: return "when all have met in shutdown";
  }
  return "";
}
inline std::string sentence(const Row& row, int victim) {
  return "rank " + std::to_string(victim) + " " + sentence(row.fault) + ", " + sentence(row.moment);
}

// Errors name the victim by its name or number, or by the numbers of the two that are confused.
inline bool names(const std::string& text, int victim) {
  const std::string number = std::to_string(victim);
  const auto has = [&](const std::string& part) { return text.find(part) != std::string::npos; };
  return has("worker" + number) || has("rank " + number) || has("worker " + number) || has("Workers " + number) ||
         (has("Workers ") && has(" and " + number));
}

}  // namespace distrun::rpc::testing
