#pragma once
// Messages between sessions on the control lane: for termination detection (termination.hpp), and for a follower to
// confirm the gathered map (meetings.hpp), since it may leave before its answer to the leader's call is sent.
//
//   Probe     leader to member    report your sent and received calls once you are quiet and in shutdown
//   Counts    member to leader
//   Done      leader to member    all are quiet, and no call is in flight
//   Ack       member to leader    confirms Done: the leader may close
//   Abort     leader to member    the shutdown has failed
//   Ask       any to any          asks for the status
//   Status    any to any          answers Ask at once
//   Leave     any to any          `text`, a member of an elastic group, is leaving
//   Heard     follower to leader  has received the map of round `round` of the group `text`
//   GaveUp    follower to leader  has left that round because of `why`
#include <string>
#include <vector>

#include <distrun/common/wire/error_fields.hpp>

namespace distrun::rpc {

// The numbers are part of the wire format.
enum class ControlKind : std::uint8_t {
  Probe = 1,
  Counts = 2,
  Done = 3,
  Ack = 4,
  Abort = 5,
  Ask = 6,
  Status = 7,
  Heard = 8,
  Leave = 9,
  GaveUp = 10,
};

struct Control {
  ControlKind kind{};
  std::uint64_t round = 0;      // Probe, Counts, Heard, GaveUp
  std::uint64_t sent = 0;       // Counts: calls since the session began
  std::uint64_t received = 0;   // Counts
  bool is_in_shutdown = false;  // Status, as are the next two
  std::int32_t running = 0;
  std::int32_t waiting = 0;
  std::uint8_t error = 0;                    // Abort: an ErrorKind
  std::string text;                          // Abort: the reason; Heard, GaveUp: the key of the group
  std::int32_t because_of = -1;              // Abort, GaveUp: the rank that caused it
  std::int32_t handlers = 0;                 // Status, as is everything below
  std::string handler;                       // the longest-running one; empty: no handler has begun
  std::vector<std::uint64_t> sent_to;        // calls sent to each worker, by its id
  std::vector<std::uint64_t> received_from;  // calls received from each worker
  std::string why;                           // GaveUp

  ErrorKind error_kind() const noexcept { return wire::error_kind(error); }
};
DISTRUN_FIELDS(Control, m.kind, m.round, m.sent, m.received, m.is_in_shutdown, m.running, m.waiting, m.error, m.text,
               m.because_of, m.handlers, m.handler, m.sent_to, m.received_from, m.why)

}  // namespace distrun::rpc
