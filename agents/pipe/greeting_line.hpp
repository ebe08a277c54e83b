#pragma once
// Sends and receives the frames of a handshake (handshake.hpp) over a non-blocking socket, with descriptors over a Unix
// socket. Never reads past a frame: those bytes belong to the stream.
#include <optional>
#include <span>
#include <vector>

#include <distrun/common/base/fd.hpp>
#include <distrun/common/wire/buffer.hpp>

namespace distrun::agents::pipe {

class GreetingLine {
 public:
  GreetingLine() = default;
  explicit GreetingLine(base::Fd socket) noexcept : socket_(std::move(socket)) {}

  int fd() const noexcept { return socket_.get(); }

  // `fds` must stay open until flush() has returned true.
  void put(wire::Bytes frame, std::vector<int> fds = {});
  // Returns false if the socket is full. Throws Error{Disconnected} if the peer is gone.
  bool flush();

  // Returns a frame without its length; nullopt if it has not arrived completely. Throws Error{Disconnected} if the
  // socket ends before, and Error{InvalidArgument} for an invalid length or too many descriptors.
  std::optional<wire::Bytes> receive();
  std::size_t files() const noexcept { return files_.size(); }
  std::vector<base::Fd> take_files() noexcept { return std::move(files_); }
  base::Fd take_socket() noexcept { return std::move(socket_); }

 private:
  std::size_t send_some();
  bool fill(std::size_t size);

  base::Fd socket_;
  wire::Bytes out_;
  std::size_t sent_ = 0;
  std::vector<int> out_fds_;
  wire::Bytes in_;  // includes the length
  std::vector<base::Fd> files_;
};

}  // namespace distrun::agents::pipe
