#pragma once
// A client's connection to a store's server, for one call at a time. Not thread-safe, except that one thread may send
// while another receives.
#include <functional>
#include <optional>
#include <string>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/base/fd.hpp>
#include <distrun/common/wire/frame.hpp>
#include <distrun/runtime/store/store.hpp>

namespace distrun::stores {

// The process that serves a store, as it has told the client.
struct ServerProcess {
  int rank = -1;  // rank in the test; -1: not one of its ranks
  int pid = 0;    // 0: not reached yet
};

class TcpLine {
 public:
  // `give_up` becomes readable when a wait must end early; -1: never.
  using TimePoint = base::TimePoint;

  // Meaning of a missing listener at the address.
  enum class Unserved : std::uint8_t {
    Early,  // the server has not started yet: tries again until the deadline
    Gone,   // the server has been reached before: throws Error{Disconnected}
  };
  // Connects, checks the server's proof of the secret and then sends its proof. Throws as TcpStore's constructor.
  // `server`: the server as reached before.
  TcpLine(const std::string& host, std::uint16_t port, std::string_view secret, const WaitLimit& limit, int give_up,
          Unserved unserved = Unserved::Early, ServerProcess server = {});

  // Returns false if the server has not taken all of it by the deadline; then the line can't be used any more. Throws
  // Error{Disconnected} if the server is gone, with its rank as the cause, or if `give_up` is readable.
  [[nodiscard]] bool send(const wire::Bytes& packed, TimePoint deadline, int give_up);
  // Returns the next frame. Nothing: `give_up` is readable or the deadline has passed. Throws Error{Disconnected} as
  // send().
  std::optional<wire::Frame> receive(TimePoint deadline, int give_up);
  const ServerProcess& server() const noexcept { return server_; }

 private:
  enum class Ready { Yes, GaveUp, Late };

  bool try_connect(TimePoint deadline, int give_up);
  void greet(std::string_view secret, TimePoint deadline, int give_up);
  bool is_server_here() const;
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
