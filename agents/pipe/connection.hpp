#pragma once
// What comes of a handshake, and who is told. See porter.hpp.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/fd.hpp>

#include <agents/pipe/handshake.hpp>

namespace distrun::agents::pipe {

// Of a handshake that both sides have agreed on.
struct Connection {
  WorkerId peer = -1;
  rpc::Incarnation incarnation = 0;
  std::string peer_name;
  std::int32_t peer_pid = 0;
  std::string peer_address;
  std::string transport;
  std::vector<std::string> channels;  // as far as this end can tell
  std::vector<NotTaken> not_taken;
  base::Fd socket;                // the stream of uds and tcp; of shm nothing more is to come from it but its end
  std::vector<base::Fd> fds;      // what the peer has sent along
  std::vector<base::Fd> own_fds;  // of who connects: what it has sent along
  bool is_connector = false;
  std::unique_ptr<Seal> seal;  // of this end
  SealMark peer_seal;
  std::optional<std::string> proved;  // of who connects: what prove() has returned
};

// On the porter's thread, and quick: nothing else moves meanwhile. They throw nothing, where nothing is said.
class PorterEvents {
 public:
  // Called when a worker that knows the secret connects. If a predecessor under its id is connected, end that
  // connection and call forget_here() before returning.
  virtual void make_room(const Hello& hello) = 0;
  // Why nobody wants to talk to that worker, who knows the secret; nothing: welcome.
  virtual std::optional<std::string> refuse(const Hello& hello) = 0;
  // What is sent along with a Hello, if it offers shm; Connection::own_fds, if this connection is the one that stays.
  // Called again for each try. An Error that it throws ends the handshake.
  virtual std::vector<base::Fd> fds_for_hello(WorkerId peer) = 0;
  // What is sent along with a Welcome over a Unix socket. They must stay open as long as the porter; an Error that it
  // throws is what the peer is refused with.
  virtual std::vector<int> fds_for_welcome(const Hello& hello, std::string_view transport) = 0;

  // Of a peer once until forget(), or until ended() was told, whoever of both has begun. Where this side had begun,
  // too, its own attempt is over.
  virtual void connected(Connection connection) = 0;
  // An own attempt is over, and there is no connection.
  virtual void failed(rpc::WorkerKey peer, const base::Error& why) = 0;

  // There are bytes, or the end of them. Again and again until they are read.
  virtual void readable(WorkerId peer) = 0;
  // There is room, once for each want_writable().
  virtual void writable(WorkerId peer) = 0;
  // Its socket is at its end, and nothing is left to be read from it; it is watched no more, and forgotten.
  virtual void ended(WorkerId peer, const std::string& why) = 0;

  // The timer is due. When next; base::TimePoint::max(): not before somebody sets it.
  virtual base::TimePoint on_timer() = 0;

 protected:
  ~PorterEvents() = default;
};

}  // namespace distrun::agents::pipe
