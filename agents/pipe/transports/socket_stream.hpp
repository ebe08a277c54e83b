#pragma once
// A stream over a connected socket: Unix or TCP.
#include <vector>

#include <distrun/common/base/fd.hpp>

#include <agents/pipe/transports/stream.hpp>

namespace distrun::agents::pipe {

class SocketStream final : public Stream {
 public:
  explicit SocketStream(base::Fd socket);

  std::size_t write(std::span<const iovec> parts) override;
  void ring() override {}  // the kernel notifies the peer

  std::span<const std::byte> look() override;
  std::size_t look_max() const noexcept override;
  void consume(std::size_t bytes) noexcept override;
  std::size_t read_into(std::byte* to, std::size_t bytes) override;

  void leave() noexcept override;
  int fd() const noexcept override { return socket_.get(); }

 private:
  std::size_t receive(std::byte* to, std::size_t bytes);
  std::size_t left() const noexcept { return end_ - begin_; }

  const base::Fd socket_;
  // Used by the reader only.
  std::vector<std::byte> buffer_;
  std::size_t begin_ = 0;  // begin_ to end_: received and not consumed
  std::size_t end_ = 0;
};

}  // namespace distrun::agents::pipe
