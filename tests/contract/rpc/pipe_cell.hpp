#pragma once
// A cell of the table of the pipe: a calling rank, a peer that goes wrong, and another peer that does not.
#include "members.hpp"
#include "pipe_table.hpp"

namespace distrun::rpc::testing {

inline constexpr base::Nanoseconds kCallLimit = std::chrono::milliseconds(2500);
inline constexpr base::Nanoseconds kPause = std::chrono::milliseconds(300);

struct PipeCell {
  State state;
  PeerFault fault;
  std::string transport;
  std::string folder;

  // Returns "call|0.1|done", "other|...", "again|...", and "open|0|no more than before" or the excess.
  Lines conduct() const;

 private:
  bool is_shm() const { return transport == "shm"; }
  bool is_strike_ordered() const {
    return state == State::Idle || state == State::LeaveSent || state == State::CmaReply;
  }
  void init(int rank, int world_size, const char* part) const;
  void be_caller(const Post& post) const;
  void be_peer(const Post& post) const;
  void be_other(const Post& post) const;
  void call_peer() const;
  void arm_greeting(const Post& post) const;
  void arm_message(const Post& post) const;
  void strike(const Post& post, bool may_block) const;
};

}  // namespace distrun::rpc::testing
