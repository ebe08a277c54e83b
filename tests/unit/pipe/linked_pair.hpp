#pragma once
// Two links that read each other's memory, like those of two connected workers, in one process.
#include <unistd.h>

#include <string>
#include <vector>

#include <agents/pipe/link.hpp>
#include <agents/pipe/transports/socket_stream.hpp>
#include <distrun/common/base/error.hpp>

namespace distrun::agents::pipe::testing {

class Mailbox final : public Delivery {
 public:
  void deliver(const rpc::WorkerInfo& from, rpc::Message message) noexcept override {
    senders.push_back(from.name());
    messages.push_back(std::move(message));
  }
  std::vector<std::string> senders;
  std::vector<rpc::Message> messages;
};

// Takes the end of the link and returns its text; "none" without an end.
inline std::string end_of(Link& link) {
  const auto end = link.take_end();
  return end ? end->text() : "none";
}

// `one` has connected to `two`, over "shm" or a pair of sockets.
class LinkedPair {
 public:
  // `proof`: the result of `one` reading the seal of `two`; empty: success, else why not.
  explicit LinkedPair(const std::string& transport, const std::string& proof = "") {
    Connection ours = connection_of(transport), theirs = connection_of(transport);
    ours.peer_seal = theirs.seal->mark();
    theirs.peer_seal = ours.seal->mark();
    ours.is_connector = true;
    ours.proved = proof;
    if (!proof.empty()) {
      ours.channels.clear();
      ours.not_taken.push_back({"cma", proof});
    }
    if (transport == "shm") {
      auto memfd = RingPair::make_memfd();
      auto rings = std::make_unique<RingPair>(base::Fd(::dup(memfd.get())), true);
      one.begin(std::move(ours),
                std::make_unique<ShmStream>(std::move(rings), std::make_unique<Door>(door_of_two.duplicate_fd())));
      rings = std::make_unique<RingPair>(std::move(memfd), false);
      two.begin(std::move(theirs),
                std::make_unique<ShmStream>(std::move(rings), std::make_unique<Door>(door_of_one.duplicate_fd())));
    } else {
      base::FdPair sockets = base::make_socket_pair(SOCK_STREAM);
      one.begin(std::move(ours), std::make_unique<SocketStream>(std::move(sockets.first)));
      two.begin(std::move(theirs), std::make_unique<SocketStream>(std::move(sockets.second)));
    }
  }

  Door door_of_one, door_of_two;
  Link one{rpc::WorkerInfo("worker2", 2), "uds:2"};
  Link two{rpc::WorkerInfo("worker1", 1), "uds:1"};
  Mailbox mail_of_one, mail_of_two;

 private:
  static Connection connection_of(const std::string& transport) {
    Connection connection;
    connection.peer_pid = ::getpid();
    connection.transport = transport;
    connection.channels = {"cma"};
    connection.seal = std::make_unique<Seal>();
    return connection;
  }
};

}  // namespace distrun::agents::pipe::testing
