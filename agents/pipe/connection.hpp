#pragma once
// The result of a handshake, and the events that IoThread reports. See io_thread.hpp.
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

// A connection that both sides have agreed on.
struct Connection {
  WorkerId peer = -1;
  rpc::Incarnation incarnation = 0;
  std::string peer_name;
  std::int32_t peer_pid = 0;
  std::string peer_address;
  std::string transport;
  std::vector<std::string> channels;  // as far as this end can tell
  std::vector<NotTaken> not_taken;
  base::Fd socket;                // the stream of uds and tcp; with shm it only reports the peer's end
  std::vector<base::Fd> fds;      // descriptors that the peer has sent
  std::vector<base::Fd> own_fds;  // descriptors that the connector has sent; empty at the listener
  bool is_connector = false;
  std::unique_ptr<Seal> seal;  // of this end
  SealMark peer_seal;
  std::optional<std::string> proved;  // the connector's result of prove()
};

// Called on the I/O thread. Must be quick, since all sockets wait meanwhile, and must not throw unless stated.
class IoThreadEvents {
 public:
  // Called when a worker that knows the secret connects. If a predecessor under its id is connected, end that
  // connection and call forget_here() before returning.
  virtual void make_room(const Hello& hello) = 0;
  // Returns why to refuse that worker, which knows the secret; nullopt: accept it.
  virtual std::optional<Refusal> refuse(const Hello& hello) = 0;
  // Returns the descriptors to send with a Hello that offers shm. They become Connection::own_fds if this connection
  // stays. Called again for each try. If it throws an Error, the handshake ends.
  virtual std::vector<base::Fd> fds_for_hello(WorkerId peer) = 0;
  // Returns the descriptors to send with a Welcome over a Unix socket. They must stay open as long as the IoThread. If
  // it throws an Error, the peer is refused with its text.
  virtual std::vector<int> fds_for_welcome(const Hello& hello, std::string_view transport) = 0;

  // Called once per peer until forget() or ended(), whichever side has begun. Ends this side's attempt, too.
  virtual void connected(Connection connection) = 0;
  // An attempt of this side is over, and there is no connection.
  virtual void failed(rpc::WorkerKey peer, const base::Error& why) noexcept = 0;

  // There are bytes, or the end of the stream. Called repeatedly until they are read.
  virtual void readable(WorkerId peer) = 0;
  // There is room to write; called once for each want_writable().
  virtual void writable(WorkerId peer) = 0;
  // The socket has ended, and nothing is left to be read from it; it is no longer watched, and the peer is forgotten.
  virtual void ended(WorkerId peer, const std::string& why) = 0;

  // The timer is due. Returns when to call it next; base::TimePoint::max(): not before set_timer().
  virtual base::TimePoint on_timer() = 0;

 protected:
  ~IoThreadEvents() = default;
};

}  // namespace distrun::agents::pipe
