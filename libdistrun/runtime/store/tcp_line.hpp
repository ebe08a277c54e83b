#pragma once
// A client's connection to a store's server, for one call at a time. Not thread-safe, but that one thread may send
// while another receives.
#include <functional>
#include <optional>
#include <string>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/base/fd.hpp>
#include <distrun/common/wire/frame.hpp>

namespace distrun::stores {

// A store's server, as it has said.
struct ServerProcess {
  int rank = -1;  // of the test; -1: it is none of its ranks
  int pid = 0;    // 0: it has not been reached yet
};

class TcpLine {
 public:
  // `give_up` is readable when whoever waits must not any longer; -1: never.
  using TimePoint = base::TimePoint;

  // What it means if there is no listener at the address.
  enum class Unserved : std::uint8_t {
    Early,  // the server has not come yet: tries again until the deadline
    Gone,   // it has been there: throws Error{Disconnected}
  };
  // Connects, and proves that it knows the secret to a server that has proved it. Throws as TcpStore's constructor.
  // `server`: the one that has been there.
  TcpLine(const std::string& host, std::uint16_t port, std::string_view secret, TimePoint deadline, int give_up,
          Unserved unserved = Unserved::Early, ServerProcess server = {});

  // Throws Error{Disconnected} if the server is gone, with its rank as the cause.
  void send(const wire::Bytes& packed, int give_up);
  // The next frame. Nothing: `give_up`, or the deadline. Throws Error{Disconnected} as send().
  std::optional<wire::Frame> receive(TimePoint deadline, int give_up);
  const ServerProcess& server() const noexcept { return server_; }

 private:
  enum class Ready { Yes, GaveUp, Late };

  bool try_connect(TimePoint deadline, int give_up);
  void greet(std::string_view secret, TimePoint deadline, int give_up);
  void check_magic(std::string_view magic) const;
  void say(std::string_view bytes) const;
  std::string hear(std::size_t size, TimePoint deadline, int give_up, const char* if_closed) const;
  Ready wait(short events, TimePoint deadline, int give_up) const;
  std::string gone_text() const;
  [[noreturn]] void lose(const std::string& why) const;

  const std::string host_;
  const std::uint16_t port_;
  base::Fd socket_;
  wire::FrameSplitter splitter_;
  ServerProcess server_;
};

}  // namespace distrun::stores
