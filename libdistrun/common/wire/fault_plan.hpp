#pragma once
// A plan of faults in RPC messages, as users write it: a seed and a list of faults.
//
//   7:drop:retriable:0.1,delay:call:1.5,fail:fork_request+ack:3
//
//   fail:KINDS:N                 the first N attempts to send a message fail with an error
//   delay:KINDS:SECONDS          is sent later; with ":ordered", later messages to that worker wait, too
//   drop:KINDS:CHANCE            is lost
//   dup:KINDS:CHANCE             is sent twice
//   reorder:KINDS:CHANCE:BEHIND  is sent after the next BEHIND messages to that worker
//   corrupt:KINDS:CHANCE         has one bit flipped
//   cut:WORKER@N                 the Nth message to that worker breaks the connection
//
// KINDS are names, joined by '+'. The seed and the order of the messages determine all effects of a plan.
#include <bitset>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <distrun/common/base/clock.hpp>

namespace distrun::wire {

// Kinds of messages that faults distinguish.
enum class FaultKind : std::uint8_t {
  Call,
  Remote,  // a call with a result that stays at the callee
  Fetch,   // fetches such a result
  Reply,
  Failure,
  Cancel,
  Control,
  ForkRequest,
  ChildAccept,
  UserDelete,
  Ack,
  Cleanup,   // an autograd context was released
  Forward,   // a call that is made in an autograd context
  Backward,  // part of a backward pass over workers
};
inline constexpr std::size_t kFaultKinds = 14;
using FaultKinds = std::bitset<kFaultKinds>;

const char* name_of(FaultKind kind) noexcept;  // "fork_request"
// Accepts names of kinds, and the groups "retriable" and "any".
std::optional<FaultKinds> try_fault_kinds(std::string_view name) noexcept;
// Returns the kinds of messages that may arrive twice or not at all: they are resent until they are answered.
FaultKinds retriable_kinds() noexcept;

struct Fault {
  enum class Action : std::uint8_t { Fail, Delay, Drop, Duplicate, Reorder, Corrupt, Cut };
  Action action{};
  FaultKinds kinds;
  double chance = 1;          // Drop, Duplicate, Reorder, Corrupt
  std::uint64_t count = 0;    // Fail: how many times; Reorder: behind how many; Cut: at which message
  base::Nanoseconds delay{};  // Delay
  bool keeps_order = false;   // Delay
  std::int32_t worker = -1;   // Cut: its id
};

struct FaultPlan {
  std::uint64_t seed = 0;
  std::vector<Fault> faults;
  std::string text;  // of the faults
};

// Parses "SEED:PLAN". Throws Error{InvalidArgument} that begins with `option` and names the item, what is expected and
// an example.
FaultPlan parse_fault_plan(const std::string& option, const std::string& text);
// Parses the list of faults without the seed; it may be empty.
std::vector<Fault> parse_faults(const std::string& option, const std::string& text);

}  // namespace distrun::wire
