#pragma once
// A loopback stream: reads return what was written, in pieces of any size, with any capacity.
#include <algorithm>
#include <cstring>
#include <utility>

#include <agents/pipe/transports/stream.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/wire/buffer.hpp>

namespace distrun::agents::pipe::testing {

class FakeStream final : public Stream {
 public:
  FakeStream() = default;
  explicit FakeStream(wire::Bytes bytes_) : bytes(std::move(bytes_)) {}

  std::size_t write(std::span<const iovec> parts) override {
    std::size_t taken = 0;
    for (const iovec& part : parts) {
      const std::size_t size = std::min(part.iov_len, room);
      const auto* const data = static_cast<const std::byte*>(part.iov_base);
      bytes.insert(bytes.end(), data, data + size);
      taken += size, room -= size;
      if (size != part.iov_len) break;
    }
    return taken;
  }
  void ring() override { ++rings; }
  std::span<const std::byte> look() override {
    const std::size_t size = std::min({bytes.size() - begin, piece_max, allowed});
    if (size == 0 && ends && allowed != 0) throw Error(ErrorKind::Disconnected, "the peer closed the connection");
    return {bytes.data() + begin, size};
  }
  std::size_t look_max() const noexcept override { return piece_max; }
  void consume(std::size_t size) noexcept override { begin += size, allowed -= size; }
  std::size_t read_into(std::byte* to, std::size_t size) override {
    const auto there = look();
    const std::size_t taken = std::min(size, there.size());
    if (taken == 0) return 0;
    std::memcpy(to, there.data(), taken);
    consume(taken);
    return taken;
  }
  int fd() const noexcept override { return -1; }

  wire::Bytes bytes;
  std::size_t begin = 0;                         // of the unread bytes
  std::size_t piece_max = std::size_t{1} << 60;  // per read
  std::size_t allowed = std::size_t{1} << 60;    // readable at the moment
  std::size_t room = std::size_t{1} << 60;       // for writes
  bool ends = false;                             // after the last byte
  int rings = 0;
};

}  // namespace distrun::agents::pipe::testing
