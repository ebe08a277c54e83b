#pragma once
// A byte stream to one peer and back, independent of its medium: a pair of rings in shared memory, or a socket. Never
// blocks. One thread at a time reads, one at a time writes; these may be two.
#include <cstddef>
#include <span>

#include <sys/uio.h>

namespace distrun::agents::pipe {

class Stream {
 public:
  virtual ~Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // Returns how many bytes were taken, from the first part on. If fewer than all, call again; 0: there is no room now,
  // and the peer reports room by ring(), a socket by becoming writable. All functions throw Error{Disconnected} once
  // the peer is gone, or has closed its end; what it had written before can still be read.
  virtual std::size_t write(std::span<const iovec> parts) = 0;
  // Notifies the peer that there is something to read, unless it is polling.
  virtual void ring() = 0;

  // Returns the readable bytes as one piece; empty: none now. Valid until consume(). Grows with each call as more
  // arrives, up to look_max() bytes.
  virtual std::span<const std::byte> look() = 0;
  virtual std::size_t look_max() const noexcept = 0;
  virtual void consume(std::size_t bytes) noexcept = 0;
  // Does look(), a copy and consume() in one step. Returns how many bytes were copied.
  virtual std::size_t read_into(std::byte* to, std::size_t bytes) = 0;

  // Closes this end, and notifies the peer as far as possible. Any thread.
  virtual void leave() noexcept {}

  // Returns the socket that the I/O thread has to watch; -1: none.
  virtual int fd() const noexcept = 0;

 protected:
  Stream() = default;
};

}  // namespace distrun::agents::pipe
