#pragma once
// The coordinator's side of the beginning of links: accepts connections, demands the proof of the run's secret and a
// Join, and hands over a link for each host of the run. A connection that proves nothing costs a descriptor and some
// hundred bytes for 5 s at most; of 64 such connections the oldest gives way to the next. Lives on: its loop.
#include <functional>
#include <list>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <distrun/common/io/fd_watch.hpp>
#include <distrun/runner/nodes/greeting.hpp>
#include <distrun/runner/nodes/link.hpp>
#include <distrun/runner/nodes/link_messages.hpp>
#include <distrun/runner/nodes/place.hpp>

namespace distrun::nodes {

class Listener {
 public:
  struct Settings {
    std::vector<std::string> addresses;  // to listen at: names or numeric
    std::uint16_t port = 0;              // 0: any free one, at each address
    std::string secret;                  // of the run: random, since every peer may try guesses
    std::string version;                 // of distrun; nodes must have the same
    std::vector<std::string> hosts;      // of the run, by name
    LinkSettings link;
    base::Nanoseconds patience = std::chrono::seconds(5);  // with the proof, and again with the Join
  };
  struct Handlers {
    // A node of a host has joined, the first and only one of this host. Sets the link's handlers.
    std::function<void(Join, std::unique_ptr<Link>)> on_joined;
    // A peer that has proved the secret was refused or has not joined, with a sentence. Peers that prove nothing are
    // dropped silently: a node with another secret or protocol says itself what is wrong.
    std::function<void(const std::string& why)> on_refused;
  };

  // Throws Error{Failed} if it can listen at none of the addresses.
  Listener(io::Loop& loop, Settings settings, Handlers handlers);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  // Returns where it listens, for dial().
  const std::vector<Place>& places() const noexcept { return places_; }
  // Returns how many connections are in the handshake.
  std::size_t guests() const noexcept { return guests_.size(); }

 private:
  // A connection that has not joined. It is removed by the handlers of its own parts, which allow that.
  struct Guest {
    std::string from;  // its address
    proof::ListenerGreeting greeting;
    std::unique_ptr<io::FdWatch> socket;  // until the proof
    std::unique_ptr<Link> link;           // from then on
    std::unique_ptr<io::Alarm> patience;
  };
  using Guests = std::list<Guest>;

  void listen_at(const std::string& address, std::string& why_not);
  void accept_all(int socket);
  void add(base::Fd socket);
  void greet(Guests::iterator guest);
  void take(Guests::iterator guest, std::string_view bytes);
  void welcome(Guests::iterator guest);
  void take_join(Guests::iterator guest, const wire::Frame& frame);
  std::string why_not(const Join& join) const;
  void lose_patience(Guests::iterator guest);
  void drop(Guests::iterator guest);
  void refuse(Guests::iterator guest, const std::string& why);

  io::Loop& loop_;
  const Settings settings_;
  Handlers handlers_;
  std::vector<Place> places_;
  std::set<std::string> joined_;
  Guests guests_;
  base::Fd reserve_;  // closed to accept and drop a connection when no descriptor is left
  std::vector<std::unique_ptr<io::FdWatch>> sockets_;
};

}  // namespace distrun::nodes
