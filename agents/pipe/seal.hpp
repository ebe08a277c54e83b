#pragma once
// Proves to a reader of a peer's memory (channel "cma") that the memory was still valid while it was copied. Each end
// of a connection has a seal: a word of its memory. The handshake gives its address and value (the nonce) to the other
// end.
//
//   owner    keeps the memory while the seal holds; breaks the seal (sets it to 0), leaves the stream, frees the memory
//   reader   copies the memory, then reads the seal in the same way: if it is not the nonce any more, the copy is
//            discarded, and the connection is lost
//
// Why that is enough. If the reader finds the nonce, the owner has not broken the seal before that read, so it has not
// freed the memory before it either (breaking is a seq_cst read-modify-write: nothing that follows is seen before it),
// and the copy had finished before (it was an earlier system call of the same thread, and the kernel takes and releases
// locks of the owner's address space in each). So all of the copy was made while the memory was kept. If the owner
// breaks the seal after that read, the copy is complete already.
//
// It does not depend on the transport: a TCP socket reports that its peer has left only after all earlier bytes had
// room, a ring at once; a seal breaks for the reader at that very moment. A word freed after it was broken is 0,
// something else, or unreadable; another process under the same pid has other numbers there. Each counts as a broken
// seal except with probability 2^-64. A nonce is never used twice.
//
// The handshake uses the same seals to prove that each end can read the other (meetings.cpp).
#include <atomic>
#include <cstdint>
#include <string>

#include <distrun/common/wire/codec.hpp>

namespace distrun::agents::pipe {

// Describes a seal to the peer.
struct SealMark {
  std::uint64_t address = 0;
  std::uint64_t nonce = 0;  // 0: no seal
};
DISTRUN_FIELDS(SealMark, m.address, m.nonce)

// This end's seal. Thread-safe.
class Seal {
 public:
  Seal();
  ~Seal() { break_now(); }
  Seal(const Seal&) = delete;
  Seal& operator=(const Seal&) = delete;

  SealMark mark() const noexcept { return mark_; }
  // Call before freeing memory that the peer may be reading.
  void break_now() noexcept { word_.exchange(0); }

 private:
  std::atomic<std::uint64_t> word_;
  const SealMark mark_;
};

// Returns why the seal of process `pid` is broken or can't be read; empty: it holds.
std::string why_broken(std::int32_t pid, const SealMark& mark);

}  // namespace distrun::agents::pipe
