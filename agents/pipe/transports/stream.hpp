#pragma once
// A stream of bytes to one peer and one back, whatever moves them: a pair of rings in shared memory, a socket. Nothing
// here blocks. One thread at a time reads, one at a time writes; these may be two.
#include <cstddef>
#include <span>

#include <sys/uio.h>

namespace distrun::agents::pipe {

class Stream {
 public:
  virtual ~Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // How many bytes were taken, from the first part on. Less than all: ask again; 0: there is no room at this moment,
  // and the peer tells when there is: by ring(), or a socket by being writable. All functions throw Error{Disconnected}
  // once the peer is gone, or has closed its end; what it had written before can still be read.
  virtual std::size_t write(std::span<const iovec> parts) = 0;
  // Tells the peer that there is something to read, unless it looks anyway.
  virtual void ring() = 0;

  // What is there to read, as one piece; empty: nothing at this moment. Good until consume(). It grows with each call
  // as more arrives, up to look_max() bytes.
  virtual std::span<const std::byte> look() = 0;
  virtual std::size_t look_max() const noexcept = 0;
  virtual void consume(std::size_t bytes) noexcept = 0;
  // As look(), a copy and consume(), without the detour: how many bytes were put there.
  virtual std::size_t read_into(std::byte* to, std::size_t bytes) = 0;

  // This end is over; the peer is told as far as it can be. Any thread.
  virtual void leave() noexcept {}

  // What the porter has to watch for it to be read or written; -1: it needs nobody.
  virtual int fd() const noexcept = 0;

 protected:
  Stream() = default;
};

}  // namespace distrun::agents::pipe
