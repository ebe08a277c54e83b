#pragma once
// What is to go wrong with messages of RPC, as people write it: a seed, and a list of faults.
//
//   7:drop:retriable:0.1,delay:call:1.5,fail:fork_request+ack:3
//
//   fail:KINDS:N                 the first N times that a message is sent, its sender gets an error
//   delay:KINDS:SECONDS          goes later; with ":ordered" so does what is sent to that worker after it
//   drop:KINDS:CHANCE            goes nowhere
//   dup:KINDS:CHANCE             goes twice
//   reorder:KINDS:CHANCE:BEHIND  goes behind the next BEHIND messages to that worker
//   lie:KINDS:CHANCE             a bit of it is another
//   cut:WORKER@N                 with the Nth message to that worker the connection is lost
//
// KINDS are names, joined by '+'. What comes of a plan is decided by the seed and the order of what is sent.
#include <bitset>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <distrun/common/base/clock.hpp>

namespace distrun::base {

// Kinds of messages, as far as faults tell them apart.
enum class FaultKind : std::uint8_t {
  Call,
  Remote,  // a call whose result stays at the callee
  Fetch,   // of such a result
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
  Backward,  // of a backward pass over workers
};
inline constexpr std::size_t kFaultKinds = 14;
using FaultKinds = std::bitset<kFaultKinds>;

const char* name_of(FaultKind kind) noexcept;  // "fork_request"
// Names of kinds and of groups of them, "retriable" and "any"; also the names that PyTorch has: "RREF_FORK_REQUEST".
std::optional<FaultKinds> try_fault_kinds(std::string_view name) noexcept;
// That may come twice, or not at all, since they are sent again until they are answered.
FaultKinds retriable_kinds() noexcept;

struct Fault {
  enum class Action : std::uint8_t { Fail, Delay, Drop, Duplicate, Reorder, Lie, Cut };
  Action action{};
  FaultKinds kinds;
  double chance = 1;         // Drop, Duplicate, Reorder, Lie
  std::uint64_t count = 0;   // Fail: how often; Reorder: behind how many; Cut: with which
  Nanoseconds delay{};       // Delay
  bool keeps_order = false;  // Delay
  std::int32_t worker = -1;  // Cut: its id
};

struct FaultPlan {
  std::uint64_t seed = 0;
  std::vector<Fault> faults;
  std::string text;  // of the faults
};

// "SEED:PLAN". Throws Error{InvalidArgument} that begins with `option` and names the item, what is wanted and an
// example.
FaultPlan parse_fault_plan(const std::string& option, const std::string& text);
// Without the seed; may be empty.
std::vector<Fault> parse_faults(const std::string& option, const std::string& text);

}  // namespace distrun::base
