#pragma once
// A worker of a test: its I/O thread, and a recorder of the events.
#include <catch2/catch.hpp>

#include <fcntl.h>
#include <sys/socket.h>

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <agents/pipe/io_thread.hpp>

namespace distrun::agents::pipe::testing {

// Limit for a test that hangs; a passing test never waits this long.
inline constexpr std::chrono::seconds kLong{30};

// Returns the number of open descriptors of this process.
inline std::ptrdiff_t count_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
}

inline Identity identity_of(WorkerId id, std::vector<std::string> transports = {"shm", "uds", "tcp"}) {
  Identity own;
  own.secret = "the secret of the session";
  own.worker = "worker" + std::to_string(id);
  own.id = id;
  for (std::string& name : transports) {
    const bool is_shm = name == "shm";
    own.transports.push_back({std::move(name), is_shm ? machine_descriptor() : "", ""});
  }
  own.channels = {{"cma", machine_descriptor(), ""}};
  return own;
}

class Desk final : public IoThreadEvents {
 public:
  explicit Desk(WorkerId id, std::vector<std::string> transports = {"shm", "uds", "tcp"},
                base::Nanoseconds limit = kLong)
      : Desk(identity_of(id, transports), limit) {}
  explicit Desk(const Identity& own, base::Nanoseconds limit = kLong)
      : io_thread(own, listener_of(own), *this, limit) {}
  ~Desk() { io_thread.close(); }

  // Returns whether `what` holds within the limit.
  template <class What>
  bool comes(What what) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kLong, [&] { return what(*this); });
  }
  Connection& connection() {
    REQUIRE(comes([](const Desk& desk) { return !desk.connections.empty(); }));
    return connections.front();
  }
  std::string failure() {
    REQUIRE(comes([](const Desk& desk) { return !desk.failures.empty(); }));
    return failures.front();
  }
  std::string end() {
    REQUIRE(comes([](const Desk& desk) { return !desk.ends.empty(); }));
    return ends.front();
  }

  // Written under a lock by the I/O thread.
  std::vector<Connection> connections;
  std::vector<std::string> failures;
  std::vector<int> causes;  // of the failures
  std::vector<std::string> ends;
  int times_readable = 0;
  int times_writable = 0;
  int timers = 0;

  // Set before it is started.
  std::string reason;           // for refusing every peer
  int because_of = -1;          // of that
  bool watches = true;          // watches connections, from their start
  bool forgets = false;         // forgets the peer first, as another thread may for an earlier connection
  bool reads = true;            // reads their input and discards it
  std::vector<base::Fd> files;  // sent with each Hello and Welcome

  IoThread io_thread;

 private:
  static Listener listener_of(const Identity& own) {
    bool has_uds = false;
    bool has_tcp = false;
    for (const Offer& offer : own.transports) (offer.name == "tcp" ? has_tcp : has_uds) = true;
    return {has_uds, has_tcp ? "127.0.0.1" : ""};
  }

  template <class Change>
  void write_down(const Change& change) {
    const std::lock_guard lock(mutex_);
    change();
    changed_.notify_all();
  }

  void make_room(const Hello&) override {}
  std::optional<Refusal> refuse(const Hello&) override {
    return reason.empty() ? std::nullopt : std::optional(Refusal{RefusalKind::Final, reason, because_of});
  }
  std::vector<base::Fd> fds_for_hello(WorkerId) override {
    std::vector<base::Fd> copies;
    for (const base::Fd& file : files) copies.emplace_back(::fcntl(file.get(), F_DUPFD_CLOEXEC, 0));
    return copies;
  }
  std::vector<int> fds_for_welcome(const Hello&, std::string_view transport) override {
    std::vector<int> fds;
    if (transport != "shm") return fds;
    for (const base::Fd& file : files) fds.push_back(file.get());
    return fds;
  }
  void connected(Connection connection) override {
    if (forgets) io_thread.forget(connection.peer);
    if (watches) io_thread.watch(connection.peer, connection.socket.get(), connection.transport != "shm");
    write_down([&] { connections.push_back(std::move(connection)); });
  }
  void failed(rpc::WorkerKey, const base::Error& why) noexcept override {
    write_down([&] {
      failures.push_back(why.what());
      causes.push_back(why.because_of());
    });
  }
  void readable(WorkerId peer) override {
    write_down([&] {
      ++times_readable;
      char bytes[4096];
      for (Connection& each : connections) {
        if (reads && each.peer == peer) (void)!::recv(each.socket.get(), bytes, sizeof bytes, MSG_DONTWAIT);
      }
    });
  }
  void writable(WorkerId) override {
    write_down([&] { ++times_writable; });
  }
  void ended(WorkerId, const std::string& why) override {
    write_down([&] { ends.push_back(why); });
  }
  base::TimePoint on_timer() override {
    write_down([&] { ++timers; });
    return base::TimePoint::max();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace distrun::agents::pipe::testing
