#pragma once
// Serves a store: accepts clients, proves to them that it knows the secret (proof/listener_greeting.hpp), answers their
// requests from one table, keeps the requests that wait for keys, and reports changes of watched keys.
//
// One thread creates, runs and destroys it. A handler that runs out of memory or descriptors closes its client's
// connection; the others are still served. What clients make it hold is bounded (server_limits.hpp).
#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <distrun/common/base/byte_budget.hpp>
#include <distrun/common/io/frame_socket.hpp>
#include <distrun/common/store_server/key_table.hpp>
#include <distrun/common/store_server/server_limits.hpp>
#include <distrun/common/store_server/tcp_protocol.hpp>

namespace distrun::stores {

class Serving {
 public:
  // `listening` is a socket that listens. `refused` counts the clients that were refused, and must outlive this.
  Serving(base::Fd listening, std::string_view secret, std::atomic<int>& refused, const ServerLimits& limits);

  io::Loop& loop() noexcept { return loop_; }
  // Finishes what a handler that has thrown may have left undone.
  void go_on() noexcept;

 private:
  // One connection: first in the handshake, then with a line.
  struct Client {
    Client(std::string_view secret, base::ByteBudget& answers, base::ByteBudget& requests);
    // Call it when an answer was queued, and when the client has taken something.
    void count_untaken(base::TimePoint now, bool has_taken);
    bool is_stalled(base::TimePoint now, const ServerLimits& limits) const;

    std::unique_ptr<io::FdWatch> greets;
    proof::ListenerGreeting greeting;
    std::unique_ptr<io::Alarm> patience;
    std::unique_ptr<io::FrameSocket> line;
    std::set<std::string> watches;
    std::size_t waiting = 0;         // requests that wait for keys
    base::CountedBytes untaken;      // of answers
    base::TimePoint untaken_since;   // valid if untaken
    base::TimePoint took_some;       // valid if untaken
    base::CountedBytes arriving;     // of a large request that has not arrived whole
    base::TimePoint arriving_since;  // valid if arriving
    bool is_held_up = false;         // nothing is read from it until there is room
    bool is_gone = false;
  };
  using Clients = std::list<Client>;
  struct Waiting {
    Client* client;
    Ask ask;
    std::size_t bytes;
    base::TimePoint deadline;
  };

  void accept_all();
  bool turn_one_away();
  void add(base::Fd socket);
  void begin_greeting(Client& client, base::Fd socket);
  void greet(Client& client);
  void go_on(Client& client, std::string_view bytes);
  void leave(Client& client);
  void make_line(Client& client);
  void end_greeting(Client& client);
  void drop(Client& client);
  void sweep();

  // Memory (serving_memory.cpp).
  bool may_read(Client& client, std::size_t request);
  void note_shortage();
  void use_room();
  void end_stalled();

  void take(Client& client, const wire::Frame& frame);
  void take(Client& client, Ask ask);
  bool try_answer(Client& client, const Ask& ask);
  // Answers without notifying others of the change. `changes` as in KeyTable::run().
  bool answer(Client& client, const Ask& ask, std::vector<Change>* changes = nullptr) noexcept;
  // Sends the error that `make` returns.
  template <class Make>
  void refuse(Client& client, std::uint64_t id, Make make) noexcept;
  std::size_t waiting_bytes() const;
  void cancel(Client& client, std::uint64_t id);
  void answer_waiting();
  void tell_changes(const std::vector<Change>& changes) noexcept;
  void end_late();
  void set_alarm();
  template <class Message>
  void send(Client& client, StoreFrame kind, const Message& message);

  io::Loop loop_;
  const std::string secret_;
  std::atomic<int>& refused_;
  const ServerLimits limits_;
  KeyTable table_;
  base::ByteBudget answers_;
  base::ByteBudget requests_;
  Clients clients_;
  std::list<Waiting> waiting_;  // the oldest first
  bool must_sweep_ = false;
  bool is_behind_ = false;  // requests wait that can be answered once there is room for answers
  bool is_short_ = false;   // clients or requests wait for room; shortage_ is set
  io::Alarm deadline_;
  io::Alarm shortage_;
  base::Fd reserve_;
  std::unique_ptr<io::FdWatch> listener_;
};

}  // namespace distrun::stores
