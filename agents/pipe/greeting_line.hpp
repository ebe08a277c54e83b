#pragma once
// The frames of a handshake (handshake.hpp) over a socket that does not block, with files over a Unix socket. Not a
// byte is read that comes after a frame: it is the stream's.
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

  // `fds` must stay open until flush() says that all is out.
  void put(wire::Bytes frame, std::vector<int> fds = {});
  // False: the socket is full. Throws Error{Disconnected} if the peer is gone.
  bool flush();

  // A frame without its length; nothing: it is not there yet. Throws Error{Disconnected} if it ends before, and
  // Error{InvalidArgument} for a length, or a number of files, that can't be.
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
  wire::Bytes in_;  // with the length
  std::vector<base::Fd> files_;
};

}  // namespace distrun::agents::pipe
