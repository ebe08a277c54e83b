#include <agents/pipe/transports/shm_stream.hpp>

#include <algorithm>
#include <cstring>

namespace distrun::agents::pipe {

ShmStream::ShmStream(std::unique_ptr<RingPair> rings, std::unique_ptr<Door> peer_door)
    : rings_(std::move(rings)),
      peer_door_(std::move(peer_door)),
      writer_(rings_->writer()),
      reader_(rings_->reader()) {}

ShmStream::~ShmStream() { leave(); }

void ShmStream::leave() noexcept {
  writer_.leave();
  reader_.leave();
  peer_door_->ring();
}

// If there is no room, the reader rings as soon as there is some.
std::size_t ShmStream::write(std::span<const iovec> parts) {
  const bool is_empty = std::all_of(parts.begin(), parts.end(), [](const iovec& part) { return part.iov_len == 0; });
  if (is_empty) return 0;
  for (;;) {
    const std::size_t taken = writer_.write(parts);
    if (taken != 0 || writer_.wait_for_room()) return taken;
  }
}

std::size_t ShmStream::read_into(std::byte* to, std::size_t bytes) {
  const std::span<const std::byte> there = look();
  const std::size_t taken = std::min({there.size(), bytes, kPieceBytes});
  if (taken == 0) return 0;
  std::memcpy(to, there.data(), taken);
  consume(taken);
  return taken;
}

}  // namespace distrun::agents::pipe
