#pragma once
// The stream of two workers that share memory on one machine: a ring each way, and each other's door.
#include <memory>

#include <agents/pipe/door.hpp>
#include <agents/pipe/transports/byte_ring.hpp>
#include <agents/pipe/transports/stream.hpp>

namespace distrun::agents::pipe {

class ShmStream final : public Stream {
 public:
  ShmStream(std::unique_ptr<RingPair> rings, std::unique_ptr<Door> peer_door);
  ~ShmStream() override;

  std::size_t write(std::span<const iovec> parts) override;
  void ring() override { peer_door_->ring(); }
  std::span<const std::byte> look() override { return reader_.look(); }
  std::size_t look_max() const noexcept override { return kRingBytes; }
  void consume(std::size_t bytes) noexcept override {
    reader_.consume(bytes);
    if (reader_.take_writer_waits()) peer_door_->ring();
  }
  std::size_t read_into(std::byte* to, std::size_t bytes) override;
  void leave() noexcept override;
  int fd() const noexcept override { return -1; }

  // Any thread. Whether look() would find nothing; whether to retry a write that found no room.
  bool is_empty() const noexcept { return reader_.is_empty(); }
  bool may_write() const noexcept { return !writer_.is_waiting(); }
  const Door& peer_door() const noexcept { return *peer_door_; }

 private:
  std::unique_ptr<RingPair> rings_;
  std::unique_ptr<Door> peer_door_;
  RingWriter writer_;
  RingReader reader_;
};

}  // namespace distrun::agents::pipe
