#pragma once
// A ring of bytes in memory shared by two processes: one writes, one reads. The data is mapped twice, back to back, so
// that the contents are always contiguous for both.
//
// Neither end trusts the other: an invalid position is an error, and nothing beyond the ring is touched.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include <sys/uio.h>

#include <distrun/common/base/fd.hpp>

namespace distrun::agents::pipe {

inline constexpr std::size_t kRingBytes = std::size_t{256} * 1024;
// Long runs of bytes are published in pieces of this size, so that one end writes while the other reads.
inline constexpr std::size_t kPieceBytes = std::size_t{32} * 1024;

// The positions of one ring, which only grow. Each end's own fields have a cache line, and fields that the other end
// reads each time are on another line than those that change each time.
struct RingHead {
  alignas(64) std::atomic<std::uint64_t> written{0};
  std::atomic<std::uint32_t> writer_left{0};
  alignas(64) std::atomic<std::uint64_t> read{0};
  alignas(64) std::atomic<std::uint32_t> writer_waits{0};  // for room: the reader then rings
  std::atomic<std::uint32_t> reader_left{0};
};

// The writing end. One thread at a time.
class RingWriter {
 public:
  RingWriter(RingHead& head, std::byte* data) noexcept : head_(head), data_(data) {}

  // Returns the number of bytes that had room; the reader sees them when it returns. Throws Error{Disconnected} if the
  // reader has left, and for invalid positions.
  std::size_t write(std::span<const iovec> parts);
  // Asks the reader to ring when there is room again. Returns true if there is room already.
  bool wait_for_room();
  // Any thread. Returns false if the writer does not wait for room, or there is some by now.
  bool is_waiting() const noexcept { return head_.writer_waits.load() != 0; }
  void leave() noexcept { head_.writer_left.store(1); }

 private:
  std::size_t room();
  void put(const iovec& part, std::size_t bytes);

  RingHead& head_;
  std::byte* const data_;
  std::uint64_t written_ = 0;
  std::uint64_t read_seen_ = 0;
};

// The reading end. One thread at a time.
class RingReader {
 public:
  RingReader(RingHead& head, const std::byte* data) noexcept : head_(head), data_(data) {}

  // Returns all bytes that are there. Throws Error{Disconnected} for invalid positions, and at the end of the stream.
  std::span<const std::byte> look() {
    const std::uint64_t written = head_.written.load(std::memory_order_acquire);
    if (written == read_) [[likely]]
      return nothing();
    return some(written);
  }
  // Any thread.
  bool is_empty() const noexcept { return head_.written.load() == head_.read.load(); }
  void consume(std::size_t bytes) noexcept {
    read_ += bytes;
    head_.read.store(read_);
  }
  // Returns whether the writer waits for room; the caller must ring then.
  bool take_writer_waits() noexcept { return head_.writer_waits.load() != 0 && head_.writer_waits.exchange(0) != 0; }
  void leave() noexcept { head_.reader_left.store(1); }

 private:
  std::span<const std::byte> nothing();
  std::span<const std::byte> some(std::uint64_t written) const;

  RingHead& head_;
  const std::byte* const data_;
  std::uint64_t read_ = 0;
};

// Both rings of two workers, mapped. The end that creates the memory writes the first ring.
class RingPair {
 public:
  static base::Fd make_memfd();  // throws Error{Failed}
  // `memfd` is from make_memfd(), here or at the peer. Throws Error{Failed, InvalidArgument}.
  RingPair(base::Fd memfd, bool is_maker);
  ~RingPair();
  RingPair(const RingPair&) = delete;
  RingPair& operator=(const RingPair&) = delete;

  RingWriter writer() const noexcept { return {head(is_maker_ ? 0 : 1), data(is_maker_ ? 0 : 1)}; }
  RingReader reader() const noexcept { return {head(is_maker_ ? 1 : 0), data(is_maker_ ? 1 : 0)}; }

 private:
  void map(const base::Fd& memfd);
  RingHead& head(int ring) const noexcept;
  std::byte* data(int ring) const noexcept;

  const bool is_maker_;
  std::byte* memory_ = nullptr;
};

// Like memcpy. Large copies bypass the caches: the reader's core gets them faster from memory than from a cache.
void copy_to_shared(std::byte* to, const void* from, std::size_t bytes) noexcept;

}  // namespace distrun::agents::pipe
