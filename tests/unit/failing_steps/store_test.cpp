// Stores: in a process, in a file, over TCP.
#include <catch2/catch.hpp>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <distrun/common/base/thread.hpp>
#include <distrun/runtime/core/rank_state.hpp>
#include <distrun/runtime/future/unseen_errors.hpp>
#include <distrun/runtime/store/file_store.hpp>
#include <distrun/runtime/store/hash_store.hpp>
#include <distrun/runtime/store/tcp_store.hpp>

#include "support/process.hpp"
#include "support/scratch.hpp"
#include "unit/failing_steps/attempt.hpp"

namespace distrun {
namespace {

using namespace testing;
using namespace std::chrono_literals;

const std::string kLong(60, 'v');  // no value of a string within itself

// All kinds of requests, each done or not: the table says the same as what was answered. `is_one_process`: what fails
// has not been done; over a line an answer may be lost.
void change_all(Attempt& attempt, Store& store, bool is_one_process) {
  store.set("set", "before");
  store.set("deleted", kLong);
  store.queue_push("pop", kLong);
  const auto is_done = [&](bool is_answered, bool has_changed) {
    require(is_answered ? has_changed : !is_one_process || !has_changed, "a request that fails has changed nothing");
  };
  const bool is_set = attempt.may_fail([&] { store.set("set", kLong); });
  is_done(is_set, store.get("set") == kLong);
  require(store.get("set") == kLong || store.get("set") == "before", "a value is whole");
  const bool is_new = attempt.may_fail([&] { store.set("a new key that is no short string", kLong); });
  is_done(is_new, store.check({"a new key that is no short string"}));
  const bool is_many = attempt.may_fail([&] { store.multi_set({{"first", kLong}, {"second", kLong}}); });
  is_done(is_many, store.check({"first"}));
  require(store.check({"first"}) == store.check({"second"}), "all keys are set or none");
  const bool is_added = attempt.may_fail([&] { store.add("sum", 5); });
  is_done(is_added, store.add("sum", 0) == 5);
  const std::size_t size = store.get("set").size();
  const bool is_appended = attempt.may_fail([&] { store.append("set", kLong); });
  is_done(is_appended, store.get("set").size() == size + kLong.size());
  const bool is_swapped = attempt.may_fail([&] { store.compare_set("swap", "", kLong); });
  is_done(is_swapped, store.check({"swap"}));
  const bool is_deleted = attempt.may_fail([&] { store.delete_key("deleted"); });
  is_done(is_deleted, !store.check({"deleted"}));
  const bool is_pushed = attempt.may_fail([&] { store.queue_push("push", kLong); });
  is_done(is_pushed, store.queue_length("push") == 1);
  std::string popped;
  const bool is_popped = attempt.may_fail([&] { popped = store.queue_pop("pop"); });
  is_done(is_popped, store.queue_length("pop") == 0);
  if (is_popped) require(popped == kLong, "what was popped is whole");
  if (!is_popped && is_one_process) require(store.queue_pop("pop") == kLong, "what was not popped is whole");
}

// A thread waits for a key that another sets; both return, whatever fails.
void wait_and_set(Attempt& attempt, Store& waits, Store& sets) {
  bool is_waiting_done = false;
  std::optional<Fault> fault;
  attempt.may_fail([&] {
    const base::Thread waiter("distrun-test", [&] {
      try {
        is_waiting_done = attempt.may_fail([&] { waits.wait({"awaited"}, 10s); });
      } catch (const Fault& found) {
        fault = found;
      }
    });
    for (bool is_set = false; !is_set;) is_set = attempt.may_fail([&] { sets.set("awaited", kLong); });
  });
  if (fault) throw *fault;
  sets.set("awaited", "again");
  waits.wait({"awaited"}, 10s);
}

// `is_one_process`: else the line that changes are told by may be lost.
void watch_and_set(Attempt& attempt, Store& watches, Store& sets, bool is_one_process) {
  std::atomic<int> told{0};
  sets.set("watched", "before");
  const bool is_watched = attempt.may_fail([&] {
    watches.watch("watched", [&told](const std::optional<std::string>&, const std::optional<std::string>&) { ++told; });
  });
  const bool is_set = attempt.may_fail([&] { sets.set("watched", kLong); });
  const auto is_told = [&] { return told > 0 || !future::unseen_errors_of(core::rank_state()).take().empty(); };
  if (is_watched && is_set && is_one_process) {
    require(eventually(10s, is_told), "a change is notified, or a failure is reported");
  }
  std::atomic<int> again{0};
  const auto count = [&again](const std::optional<std::string>&, const std::optional<std::string>&) { ++again; };
  try {
    watches.watch("other", count);
  } catch (const Error& error) {
    require(!is_one_process && error.kind() == ErrorKind::Disconnected, "the line has just been lost");
    watches.watch("other", count);
  }
  sets.set("other", "value");
  require(eventually(10s, [&] { return again > 0; }), "another key can be watched");
}

TEST_CASE("a hash store executes a request or refuses it") {
  every_step_may_fail([](Attempt& attempt) {
    HashStore store;
    change_all(attempt, store, true);
  });
}

TEST_CASE("a wait for a key of a hash store ends") {
  every_step_may_fail([](Attempt& attempt) {
    HashStore store;
    wait_and_set(attempt, store, store);
  });
}

TEST_CASE("changes in a hash store are notified, or a failure is reported") {
  every_step_may_fail([](Attempt& attempt) {
    HashStore store;
    watch_and_set(attempt, store, store, true);
  });
}

TEST_CASE("a file store executes a request or refuses it") {
  every_step_may_fail([](Attempt& attempt) {
    const Scratch scratch;
    std::optional<FileStore> store;
    attempt.may_fail([&] { store.emplace(scratch.path() + "/store", 0); });
    if (!store) store.emplace(scratch.path() + "/store", 0);
    FileStore other(scratch.path() + "/store", 0);
    change_all(attempt, *store, true);
    require(other.num_keys() == store->num_keys(), "the file says the same");
    other.set("last", "value");
    require(store->get("last") == "value", "it goes on");
  });
}

TEST_CASE("a file store opens the new file after its file was replaced") {
  every_step_may_fail([](Attempt& attempt) {
    const Scratch scratch;
    const std::string path = scratch.path() + "/store";
    FileStore store(path, 0);
    store.set("key", "value");
    require(::unlink(path.c_str()) == 0, "the file is gone");
    attempt.may_fail([&] { store.set("key", "other"); });
    store.set("key", "again");
    require(FileStore(path, 0).get("key") == "again", "the new file has it");
  });
}

TcpStoreOptions options_of_server() {
  TcpStoreOptions options;
  options.is_server = true;
  options.port = 0;
  options.timeout = 10s;
  options.world_size = -1;
  return options;
}

TcpStoreOptions options_of_client(const TcpStore& server) {
  TcpStoreOptions options = options_of_server();
  options.is_server = false;
  options.port = server.port();
  return options;
}

TEST_CASE("a TCP store is opened, or the error says why not") {
  every_step_may_fail([](Attempt& attempt) {
    attempt.may_fail([] {
      TcpStore server("127.0.0.1", options_of_server());
      TcpStore client("127.0.0.1", options_of_client(server));
    });
    TcpStore server("127.0.0.1", options_of_server());
    TcpStore client("127.0.0.1", options_of_client(server));
    client.set("key", "value");
    require(server.get("key") == "value", "another one works");
  });
}

TEST_CASE("a server of a TCP store continues though a client finds no room") {
  every_step_may_fail([](Attempt& attempt) {
    TcpStore server("127.0.0.1", options_of_server());
    attempt.may_fail([&server] { TcpStore("127.0.0.1", options_of_client(server)).set("key", "value"); });
    TcpStore client("127.0.0.1", options_of_client(server));
    client.set("key", "value");
    require(server.get("key") == "value", "other clients are served");
  });
}

TEST_CASE("a TCP store executes a request or reports a failure") {
  every_step_may_fail([](Attempt& attempt) {
    TcpStore server("127.0.0.1", options_of_server());
    TcpStore client("127.0.0.1", options_of_client(server));
    change_all(attempt, client, false);
  });
}

TEST_CASE("a wait for a key of a TCP store ends") {
  every_step_may_fail([](Attempt& attempt) {
    TcpStore server("127.0.0.1", options_of_server());
    TcpStore client("127.0.0.1", options_of_client(server));
    wait_and_set(attempt, client, server);
  });
}

TEST_CASE("changes in a TCP store are notified, or a failure is reported") {
  every_step_may_fail([](Attempt& attempt) {
    TcpStore server("127.0.0.1", options_of_server());
    TcpStore client("127.0.0.1", options_of_client(server));
    watch_and_set(attempt, client, server, false);
  });
}

// Cuts the newest connection of this process to that port.
void cut_newest_connection(std::uint16_t port) {
  for (int fd = 255; fd > 2; --fd) {
    sockaddr_in peer{};
    socklen_t size = sizeof peer;
    if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) != 0 || ntohs(peer.sin_port) != port) continue;
    ::shutdown(fd, SHUT_RDWR);
    return;
  }
}

TEST_CASE("the keys of a TCP store are watched again after its connection was cut, or an error says why not") {
  every_step_may_fail([](Attempt& attempt) {
    TcpStore server("127.0.0.1", options_of_server());
    TcpStore client("127.0.0.1", options_of_client(server));
    std::atomic<int> first{0}, second{0};
    const auto count_in = [](std::atomic<int>& count) { return [&count](const auto&, const auto&) { ++count; }; };
    client.watch("first", count_in(first));
    cut_newest_connection(server.port());
    const auto watches = [&] { return attempt.may_fail_or_be_cut([&] { client.watch("second", count_in(second)); }); };
    require(eventually(5s, watches), "a further key is watched");
    server.set("first", "value");
    server.set("second", "value");
    require(eventually(10s, [&] { return first > 0 && second > 0; }), "changes of both keys are notified");
    require(first == 1 && second == 1, "each change is notified once");
  });
}

}  // namespace
}  // namespace distrun
