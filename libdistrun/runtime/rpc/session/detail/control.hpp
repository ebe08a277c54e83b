#pragma once
// What sessions tell each other on the control lane: to find the end of all calls (termination.hpp), and that a
// follower has what was gathered (meetings.hpp), who may be gone before its answer to the leader's call is on its way.
//
//   Probe     leader to member    how many calls have you sent and received? Answer when you are quiet, in shutdown
//   Counts    member to leader
//   Done      leader to member    all are quiet, and nothing is on its way
//   Ack       member to leader    of Done: it may close
//   Abort     leader to member    it will not come to that
//   Ask       anybody             what are you doing?
//   Status    anybody             at once
//   Leave     anybody             `text`, a member of an elastic group, leaves it
//   Heard     follower to leader  it has what was gathered in the round `round` of `text`
#include <string>
#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/common/wire/codec.hpp>

namespace distrun::rpc {

// The numbers are the wire's.
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
};

struct Control {
  ControlKind kind{};
  std::uint64_t round = 0;      // Probe, Counts, Heard
  std::uint64_t sent = 0;       // Counts: calls since the session began
  std::uint64_t received = 0;   // Counts
  bool is_in_shutdown = false;  // Status, as what follows
  std::int32_t running = 0;
  std::int32_t waiting = 0;
  std::uint8_t error = 0;                    // Abort: an ErrorKind
  std::string text;                          // Abort: why; Heard: of whom
  std::int32_t because_of = -1;              // Abort: the rank from which it follows
  std::int32_t handlers = 0;                 // Status, as what follows
  std::string handler;                       // the one that has run for longest; empty: none has begun
  std::vector<std::uint64_t> sent_to;        // calls to each worker, by its id
  std::vector<std::uint64_t> received_from;  // calls of each worker

  ErrorKind error_kind() const noexcept {
    return error <= static_cast<std::uint8_t>(ErrorKind::Unimplemented) ? static_cast<ErrorKind>(error)
                                                                        : ErrorKind::Failed;
  }
};
DISTRUN_FIELDS(Control, m.kind, m.round, m.sent, m.received, m.is_in_shutdown, m.running, m.waiting, m.error, m.text,
               m.because_of, m.handlers, m.handler, m.sent_to, m.received_from)

}  // namespace distrun::rpc
