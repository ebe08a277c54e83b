#pragma once
// A client of the daemon that sends arbitrary bytes for a test, on the thread that runs the daemon's loop.
#include <sys/socket.h>
#include <sys/un.h>

#include <string>
#include <vector>

#include <distrun/common/wire/daemon.hpp>
#include <distrun/common/wire/frame.hpp>
#include <distrun/common/wire/packet.hpp>

#include "order.hpp"

namespace distrun::testing {

class RawClient {
 public:
  explicit RawClient(const std::string& path) : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    connected_ = ::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  bool connected() const { return connected_; }

  // Sends as much as the socket takes.
  void send(const wire::Bytes& bytes) {
    (void)::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  void hello(std::uint32_t abi = wire::kDaemonAbi) {
    send(wire::pack(wire::DaemonFrame::Hello, 0, wire::DaemonHello{abi}));
  }
  void hello_with(const std::vector<base::Fd>& descriptors) {
    std::vector<int> numbers;
    for (const base::Fd& fd : descriptors) numbers.push_back(fd.get());
    const wire::Bytes hello = wire::pack(wire::DaemonFrame::Hello, 0, wire::DaemonHello{});
    wire::send_packet(socket_.get(), wire::view_of(hello), numbers);
  }
  void submit(const std::string& script, const Place& place) {
    hello_with(place.descriptors());
    send(wire::pack(wire::DaemonFrame::SubmitRun, 0, order(script)));
  }
  void ask() { send(wire::pack_frame(wire::DaemonFrame::AskStatus, 0, {})); }
  void hang_up() { socket_.reset(); }

  // Reads what has arrived. Returns true once the daemon has closed.
  bool listen() {
    std::byte buffer[4096];
    for (;;) {
      const ssize_t got = ::recv(socket_.get(), buffer, sizeof buffer, MSG_DONTWAIT);
      if (got > 0) {
        splitter_.feed(wire::view_of(buffer, static_cast<std::size_t>(got)));
        while (auto frame = splitter_.next()) frames.push_back(std::move(*frame));
      } else {
        return got == 0 || (errno != EAGAIN && errno != EINTR);
      }
    }
  }
  const wire::Frame* find(wire::DaemonFrame kind) const {
    for (const wire::Frame& frame : frames) {
      if (frame.is(kind)) return &frame;
    }
    return nullptr;
  }
  template <class T>
  T read(wire::DaemonFrame kind) const {
    const wire::Frame* frame = find(kind);
    return frame == nullptr ? T{} : wire::decode<T>(wire::view_of(frame->payload));
  }
  // Returns an empty text if the client was not refused.
  std::string refusal() const { return read<wire::Refusal>(wire::DaemonFrame::Refusal).text; }

  std::vector<wire::Frame> frames;

 private:
  base::Fd socket_;
  bool connected_ = false;
  wire::FrameSplitter splitter_{wire::kProtocol<wire::DaemonFrame>};
};

}  // namespace distrun::testing
