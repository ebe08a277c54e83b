#pragma once
// How whoever reads memory out of its peer's process by itself (channel "cma") knows that what it has read is a value,
// and not what stood there after the owner had given the memory up. Each end of a connection has a seal: a word of its
// own memory, whose place and number (the nonce) the other end was told in the handshake.
//
//   owner    keeps the memory while the seal holds   breaks the seal (the word is 0 then), leaves the stream, frees it
//   reader   copies the memory, then reads the seal in the same way: if it is not the nonce any more, what it has
//            copied is none, and the connection is lost
//
// Why that is enough. If the reader finds the nonce, the owner has not broken the seal before that read, so it has not
// freed before it either (breaking is a read-modify-write with seq_cst: nothing that follows is seen before it), and
// the copy was over before (it was a system call of its own, made earlier by the same thread, and the kernel takes and
// leaves locks of the owner's address space in each). So all of the copy was made while the memory was kept. If the
// owner breaks the seal after that read, the copy is whole already.
//
// It needs nothing of the transport: a TCP socket says that its peer has left only when all that was sent before has
// had room, a ring at once; a seal is broken for the reader in the moment in which it is. A word that is freed after
// it was broken is 0, something else, or can't be read; another process under the same pid has other numbers there.
// Each is a broken seal but with a chance of 2^-64. A nonce is never used twice.
//
// The handshake proves by the same seals that each end can read the other (meetings.cpp).
#include <atomic>
#include <cstdint>
#include <string>

#include <distrun/common/wire/codec.hpp>

namespace distrun::agents::pipe {

// Of a seal, as the peer is told.
struct SealMark {
  std::uint64_t address = 0;
  std::uint64_t nonce = 0;  // 0: there is no seal
};
DISTRUN_FIELDS(SealMark, m.address, m.nonce)

// One's own. Any thread.
class Seal {
 public:
  Seal();
  ~Seal() { break_now(); }
  Seal(const Seal&) = delete;
  Seal& operator=(const Seal&) = delete;

  SealMark mark() const noexcept { return mark_; }
  // Before memory that the peer may be reading is given up.
  void break_now() noexcept { word_.exchange(0); }

 private:
  std::atomic<std::uint64_t> word_;
  const SealMark mark_;
};

// Why the seal of process `pid` can't be read, or is none; empty: it holds.
std::string why_broken(std::int32_t pid, const SealMark& mark);

}  // namespace distrun::agents::pipe
