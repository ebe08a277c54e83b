#pragma once
// What becomes of a call over the pipe when its peer goes wrong at each state of their connection: the table, which was
// written before the code.
#include <string>
#include <vector>

namespace distrun::rpc::testing {

enum class State {
  Connecting,   // this rank has dialled, the peer has not taken the connection
  OpeningSent,  // the peer has taken it, and not read the Opening
  ProofSent,    // the peer's Challenge is on its way
  WelcomeSent,  // the peer's answer is on its way
  Idle,         // they have met, and are quiet
  HalfMessage,  // the peer has read a part of 8 MiB of text
  RequestSent,  // the peer runs the call
  HalfReply,    // the peer has written a part of 8 MiB of text
  RingTensor,   // the peer has read a part of a tensor of 8 MiB, out of ring or socket
  CmaTensor,    // ... out of this process's memory
  CmaReply,     // this rank has read a part of a tensor of 8 MiB out of the peer's memory
  LeaveSent,    // the peer has closed its agent
};
enum class PeerFault { Killed, Stopped, Closes, Cut, Junk };

using Outcomes = unsigned;  // those that are right
inline constexpr Outcomes kValue = 1, kLost = 2, kLate = 4;

struct PipeRow {
  State state;
  Outcomes killed, stopped, closes, cut, junk;
  // Where the transport is shared memory; 0: the same.
  Outcomes cut_shm = 0, junk_shm = 0;
  const char* why_not = "";  // cells with 0 are not there
};

// Who is stopped goes on after 300 ms, and that costs nothing but time. Who closes brings what it was asked for, if it
// was before that. In shared memory the socket tells of the peer's
// end only, so bytes that are there may come before. Junk between bytes of a text that nobody checks is text; over the
// positions of a ring it makes that nobody is woken.
inline const std::vector<PipeRow>& pipe_table() {
  static const std::vector<PipeRow> table = {
      {State::Connecting, kLost, kValue, kLost | kValue, kLost, kLost},
      {State::OpeningSent, kLost, kValue, kLost | kValue, kLost, kLost},
      {State::ProofSent, kLost, kValue, kLost | kValue, kLost, kLost},
      {State::WelcomeSent, kLost, kValue, kLost | kValue, kLost, kLost},
      {State::Idle, kLost, kValue, kLost, kLost, kLost, 0, kLost | kLate},
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
