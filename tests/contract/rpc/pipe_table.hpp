#pragma once
// The expected result of a call over the pipe when its peer goes wrong at each state of their connection. The table was
// written before the code.
#include <string>
#include <vector>

namespace distrun::rpc::testing {

enum class State {
  Connecting,   // this rank has dialled, the peer has not accepted
  OpeningSent,  // the peer has accepted, and not read the Opening
  ProofSent,    // the peer's Challenge is in flight
  WelcomeSent,  // the peer's answer is in flight
  Idle,         // connected and idle
  HalfMessage,  // the peer has read a part of 8 MiB of text
  RequestSent,  // the peer runs the call
  HalfReply,    // the peer has written a part of 8 MiB of text
  RingTensor,   // the peer has read a part of a tensor of 8 MiB from ring or socket
  CmaTensor,    // ... from this process's memory
  CmaReply,     // this rank has read a part of a tensor of 8 MiB from the peer's memory
  LeaveSent,    // the peer has closed its agent
};
enum class PeerFault { Killed, Stopped, Closes, Cut, Junk };

using Outcomes = unsigned;  // the permitted ones
inline constexpr Outcomes kValue = 1, kLost = 2, kLate = 4;

struct PipeRow {
  State state;
  Outcomes killed, stopped, closes, cut, junk;
  // The outcomes over shared memory, where they differ; 0: the same.
  Outcomes cut_shm = 0, junk_shm = 0;
  const char* why_not = "";  // cells with 0 do not exist
};

// A stopped peer goes on after 300 ms, which costs only time. A closing peer completes earlier calls. With shared
// memory the socket only shows the peer's end, so a call over the ring may end before either side has seen the cut.
// Junk within unchecked text is text; over the positions of a ring it suppresses wake-ups.
inline const std::vector<PipeRow>& pipe_table() {
  static const std::vector<PipeRow> table = {
      {State::Connecting, kLost, kValue, kLost | kValue, kLost, kLost},
      {State::OpeningSent, kLost, kValue, kLost | kValue, kLost, kLost},
      {State::ProofSent, kLost, kValue, kLost | kValue, kLost, kLost},
      {State::WelcomeSent, kLost, kValue, kLost | kValue, kLost, kLost, kLost | kValue, kLost | kValue},
      {State::Idle, kLost, kValue, kLost, kLost, kLost, kLost | kValue, kLost | kLate},
      {State::HalfMessage, kLost, kValue, kLost, kLost, kLost, kLost | kValue, kLost | kLate},
      {State::RequestSent, kLost, kValue, kLost | kValue, kLost, kLost, kLost | kValue, kLost | kLate},
      {State::HalfReply, kLost, kValue, kLost | kValue, kLost, kLost | kValue | kLate, kLost | kValue, kLost | kLate},
      {State::RingTensor, kLost, kValue, kLost, kLost, kLost, kLost | kValue, kLost | kLate},
      {State::CmaTensor, kLost, kValue, kLost, kLost, kLost, kLost | kValue, kLost | kLate},
      {State::CmaReply, kLost, kValue, kLost | kValue, kLost | kValue, kLost | kValue, kLost | kValue,
       kLost | kValue | kLate},
      {State::LeaveSent, kLost, kLost, kLost, 0, 0, 0, 0, "there is no socket and no ring any more"},
  };
  return table;
}

inline Outcomes outcomes_of(const PipeRow& row, PeerFault fault, bool is_shm) {
  switch (fault) {
    case PeerFault::Killed: return row.killed;
    case PeerFault::Stopped: return row.stopped;
    case PeerFault::Closes: return row.closes;
    case PeerFault::Cut: return is_shm && row.cut_shm != 0 ? row.cut_shm : row.cut;
    case PeerFault::Junk: return is_shm && row.junk_shm != 0 ? row.junk_shm : row.junk;
  }
  return 0;
}

inline std::string sentence(State state) {
  switch (state) {
    case State::Connecting: return "before it takes the connection";
    case State::OpeningSent: return "before it reads the Opening";
    case State::ProofSent: return "when its Challenge is written";
    case State::WelcomeSent: return "when its Welcome is written";
    case State::Idle: return "when they have met, and are idle";
    case State::HalfMessage: return "when it has read a part of a message";
    case State::RequestSent: return "while it runs the call";
    case State::HalfReply: return "when it has written a part of its reply";
    case State::RingTensor: return "when it has read a part of a tensor";
    case State::CmaTensor: return "when it has read half a tensor out of the caller's memory";
    case State::CmaReply: return "when half of a tensor was read out of its memory";
    case State::LeaveSent: return "when it has left";
  }
  return "";
}
inline std::string sentence(PeerFault fault) {
  switch (fault) {
    case PeerFault::Killed: return "is killed";
    case PeerFault::Stopped: return "is stopped for 300 ms";
    case PeerFault::Closes: return "closes its agent";
    case PeerFault::Cut: return "has its socket cut";
    case PeerFault::Junk: return "writes junk";
  }
  return "";
}

}  // namespace distrun::rpc::testing
