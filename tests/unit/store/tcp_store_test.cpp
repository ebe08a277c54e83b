// A store over TCP with hostile peers, and peers that disconnect.
#include <catch2/catch.hpp>

#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/free_port.hpp>
#include <distrun/common/base/rng.hpp>
#include <distrun/common/base/thread.hpp>
#include <distrun/common/store_server/tcp_address.hpp>
#include <distrun/common/store_server/tcp_protocol.hpp>
#include <distrun/runtime/core/inline_function.hpp>
#include <distrun/runtime/store/awaited_ranks.hpp>
#include <distrun/runtime/store/tcp_store.hpp>

#include "raw_peer.hpp"
#include "support/error_of.hpp"
#include "support/process.hpp"
#include "unit/core/fake_rank_line.hpp"

namespace distrun::stores {
namespace {

using namespace std::chrono_literals;
using raw::greet_as_client;
using raw::hear_all;
using raw::say;
using testing::error_of;
using testing::FakeRank;

constexpr char kSecret[] = "open sesame";

TcpStoreOptions client_of(const TcpStore& server) { return {.port = server.port(), .secret = kSecret}; }
TcpStoreOptions server_options() { return {.is_server = true, .secret = kSecret}; }

base::Fd connect_raw(const TcpStore& server) { return raw::connect_raw(server.port()); }

TEST_CASE("a client with another protocol is dropped silently and at once, and the others do not notice") {
  TcpStore server("localhost", server_options());
  const std::string junk = GENERATE(as<std::string>(), "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
                                    std::string(8, '\0'), "dstora-3aaaaaaaa", std::string("\x16\x03\x01\x02", 4), "x");
  const base::Fd scanner = connect_raw(server);
  say(scanner, junk);
  CHECK(hear_all(scanner).empty());
  TcpStore client("localhost", client_of(server));
  client.set("key", "value");
  CHECK(server.get("key") == "value");
}

TEST_CASE("invalid frames end their client's connection, and no other") {
  TcpStore server("localhost", server_options());
  base::Rng random(7);
  for (int i = 0; i < 200; ++i) {
    const base::Fd client = connect_raw(server);
    greet_as_client(client, kSecret);
    std::string bytes;
    for (std::uint64_t left = random.below(200); left > 0; --left) bytes += static_cast<char>(random.below(256));
    say(client, bytes);
    ::shutdown(client.get(), SHUT_WR);
    CHECK_THAT(hear_all(client), Catch::StartsWith(std::string(1, kWelcome)));
  }
  CHECK(server.add("alive", 1) == 1);
}

TEST_CASE("a silent client is dropped after five seconds") {
  const TcpStore server("localhost", server_options());
  const base::Fd silent = connect_raw(server);
  const base::Fd half = connect_raw(server);
  const base::Fd unproved = connect_raw(server);
  say(half, "dstore-3half of a nonce");
  say(unproved, std::string(kHandshake.connector_magic) + proof::make_nonce() + "half of a proof");
  CHECK(hear_all(silent).empty());
  CHECK(hear_all(half).empty());
  CHECK(hear_all(unproved).size() == kAnswerSize);
}

TEST_CASE("a server without descriptors refuses clients, and serves again when there are some") {
  const TcpStore server("localhost", server_options());
  const TcpAddress address = resolve("localhost", server.port()).front();
  const base::Fd client(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
  struct rlimit before {};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const struct rlimit none { static_cast<rlim_t>(client.get()) + 1, before.rlim_max };
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  const int connected = ::connect(client.get(), address.get(), address.size);
  say(client, std::string(kHandshake.connector_magic) + proof::make_nonce());
  const std::string answer = hear_all(client);
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  REQUIRE(connected == 0);
  CHECK(answer.empty());
  TcpStore later("localhost", client_of(server));
  CHECK(later.add("alive", 1) == 1);
}

TEST_CASE("a value of a queue is not given to a call that has ended") {
  TcpStore server("localhost", server_options());
  {
    FakeRank rank;
    TcpStore client("localhost", client_of(server));
    CHECK(error_of([&] { client.queue_pop("jobs", 20ms); }).kind() == ErrorKind::Timeout);
    const base::Thread fails("fails", [&] {
      testing::eventually(30s, [&] { return rank.line.count() > 1; });
      rank.state.fail_peer({1, "rank 1 failed"});
    });
    CHECK_THROWS_AS(client.queue_pop("jobs"), PeerFailed);
  }
  server.queue_push("jobs", "whole");
  CHECK(server.queue_pop("jobs", 30s) == "whole");
}

TEST_CASE("a server that exits is an error at every client at once") {
  auto server = std::make_unique<TcpStore>("localhost", server_options());
  constexpr int kClients = 8;
  std::atomic<int> waiting{0};
  std::atomic<int> lost{0};
  std::vector<base::Thread> threads;
  for (int i = 0; i < kClients; ++i) {
    threads.emplace_back("client", [&, options = client_of(*server)] {
      TcpStore client("localhost", options);
      client.add("here", 1);
      ++waiting;
      try {
        client.get("never");
      } catch (const Error& error) {
        if (error.kind() == ErrorKind::Disconnected && error.text().ends_with("its server is gone")) ++lost;
      }
    });
  }
  CHECK(testing::eventually(30s, [&] { return waiting == kClients; }));
  server.reset();
  threads.clear();
  CHECK(lost == kClients);
}

TEST_CASE("a wait for a required rank ends when that rank has died, and names it") {
  constexpr int kNoProcess = 1 << 22;  // one more than there can be
  TcpStore server("localhost", server_options());
  FakeRank rank;
  rank.line.pids = {{0, ::getpid()}, {1, kNoProcess}};
  const AwaitedRanks awaited({1}, {1});
  const Error error = error_of([&] { server.wait({"never"}, 30s); });
  CHECK(error.text() == "waiting for the key never: rank 1 is gone: its process 4194304 has ended");
  CHECK(error.because_of() == 1);
  server.set("there", "before it died");
  CHECK(server.get("there") == "before it died");
}

TEST_CASE("a server that waits in vain for clients says which ranks have died") {
  FakeRank rank;
  rank.line.pids = {{0, ::getpid()}, {1, 1 << 22}};
  TcpStoreOptions options = server_options();
  options.world_size = 2;
  options.timeout = 20ms;
  CHECK_THROWS_WITH(TcpStore("localhost", options),
                    Catch::EndsWith("1/2 clients joined. rank 1 is gone: its process 4194304 has ended"));
}

TEST_CASE("clients may start before their server") {
  const auto port = static_cast<std::uint16_t>(base::find_free_port());
  std::string got;
  base::Thread early("client", [&] {
    TcpStore client("localhost", {.port = port, .timeout = base::Nanoseconds::max(), .secret = kSecret});
    got = client.get("key");
  });
  testing::pause_for(20ms);
  TcpStore server("localhost", {.port = port, .is_server = true, .secret = kSecret});
  server.set("key", "value");
  early.join();
  CHECK(got == "value");
}

TEST_CASE("a client reports that no server listens when it times out") {
  const auto port = static_cast<std::uint16_t>(base::find_free_port());
  const Error error = error_of([&] { TcpStore client("127.0.0.1", {.port = port, .timeout = 50ms}); });
  CHECK(error.kind() == ErrorKind::Timeout);
  CHECK_THAT(error.text(), Catch::StartsWith("no store server answered at 127.0.0.1:" + std::to_string(port)));
}

TEST_CASE("invalid host names and addresses are errors at once") {
  for (const char* const host : {"no such host", "host.invalid", "1.2.3.4.5", "::1::2"}) {
    const Error error = error_of([&] { TcpStore client(host, {.port = 1, .timeout = 300s}); });
    CHECK(error.kind() == ErrorKind::InvalidArgument);
    CHECK_THAT(error.text(), Catch::StartsWith("the host \"" + std::string(host) + "\" has no address"));
  }
}

TEST_CASE("stores are served at addresses of either family") {
  const std::string host = GENERATE("127.0.0.1", "::1", "localhost");
  std::unique_ptr<TcpStore> server;
  try {
    server = std::make_unique<TcpStore>(host, server_options());
  } catch (const Error& error) {
    REQUIRE(host == "::1");  // a machine may lack it
    return;
  }
  TcpStore client(host, client_of(*server));
  client.set("key", "value");
  CHECK(server->get("key") == "value");
}

TEST_CASE("after the end of its server every call of a client fails at once, with the address") {
  auto server = std::make_unique<TcpStore>("localhost", server_options());
  TcpStore client("localhost", client_of(*server));
  client.set("key", "value");
  const std::string place = "localhost:" + std::to_string(server->port());
  server.reset();
  const base::TimePoint begin = base::system_clock().now();
  for (int call = 0; call < 3; ++call) {
    const Error error = error_of([&] { client.get("key"); });
    CHECK(error.kind() == ErrorKind::Disconnected);
    CHECK_THAT(error.text(), Catch::Contains(place));
  }
  CHECK(base::system_clock().now() - begin < 30s);  // out of the 300 s that a client waits for a server to appear
}

TEST_CASE("a request with more keys than a store may have is refused, and the server continues") {
  TcpStore server("localhost", server_options());
  TcpStore client("localhost", client_of(server));
  client.set("k", "v");
  const std::vector<std::string> many(200'000, "k");
  const Error error = error_of([&] { client.wait(many); });
  CHECK(error.kind() == ErrorKind::Overloaded);
  CHECK_THAT(error.text(), Catch::Contains("has 200000 keys, the limit is 131072"));
  CHECK(client.get("k") == "v");
}

TEST_CASE("a port that is in use is named") {
  const TcpStore server("127.0.0.1", server_options());
  TcpStoreOptions options = server_options();
  options.port = server.port();
  const Error error = error_of([&] { TcpStore second("127.0.0.1", options); });
  CHECK_THAT(error.text(), Catch::Contains("has failed to listen on any local network address at 127.0.0.1:" +
                                           std::to_string(server.port())) &&
                               Catch::Contains("in use"));
}

TEST_CASE("a server waits for its workers, and reports how many have arrived") {
  TcpStoreOptions options = server_options();
  options.world_size = 3;
  options.timeout = 50ms;
  const Error error = error_of([&] { TcpStore server("localhost", options); });
  CHECK(error.kind() == ErrorKind::Timeout);
  CHECK_THAT(error.text(),
             Catch::StartsWith("Timed out after ") && Catch::EndsWith("waiting for clients. 1/3 clients joined."));
  options.world_size = 0;
  CHECK_THROWS_WITH(TcpStore("localhost", options),
                    "the world size of a TCP store is 0; it must be at least 1, or -1 if users are not counted");
  options.is_server = false;  // and no server is searched
  CHECK_THROWS_WITH(TcpStore("localhost", options), Catch::StartsWith("the world size of a TCP store is 0"));
  options.is_server = true;
  options.world_size = 2;
  options.timeout = 30s;
  options.port = static_cast<std::uint16_t>(base::find_free_port());
  base::Thread worker("worker", [options] {
    TcpStoreOptions own = options;
    own.is_server = false;
    TcpStore client("localhost", own);
    client.get("all are here");
  });
  TcpStore server("localhost", options);
  CHECK(server.get("init/") == "2");
  server.set("all are here", "1");
  worker.join();  // before the server is destroyed
}

TEST_CASE("a server with the longest timeout waits for its workers without a deadline") {
  FakeRank rank;
  TcpStoreOptions options = server_options();
  options.world_size = 2;
  options.timeout = base::Nanoseconds::max();
  options.port = static_cast<std::uint16_t>(base::find_free_port());
  base::Thread worker("worker", [&rank, options] {
    testing::eventually(30s, [&] { return rank.line.has_begun("clients of the store"); });
    TcpStoreOptions own = options;
    own.is_server = false;
    own.timeout = 5s;
    try {
      TcpStore client("localhost", own);
      client.get("all are here");
    } catch (const Error&) {  // the server has given up
    }
  });
  TcpStore server("localhost", options);
  CHECK(rank.line.deadline_of("clients of the store") == base::TimePoint::max());
  server.set("all are here", "1");
  worker.join();  // before the server is destroyed
}

TEST_CASE("an inline function of RPC may not use a TCP store, and the store works on") {
  TcpStore server("localhost", server_options());
  TcpStore client("localhost", client_of(server));
  PrefixStore part("part", std::make_shared<TcpStore>("localhost", client_of(server)));
  server.set("key", "value");
  {
    const std::string name = "peek";
    const core::InlineFunctionScope scope(&name);
    const auto is_refused = Catch::StartsWith("the inline function \"peek\" uses a TCP store: ");
    CHECK_THROWS_WITH(client.get("key"), is_refused);
    CHECK_THROWS_WITH(client.wait({"key"}), is_refused);
    CHECK_THROWS_WITH(client.set("key", "other"), is_refused);
    CHECK_THROWS_WITH(client.check({"key"}), is_refused);
    CHECK_THROWS_WITH(client.watch("key", [](const auto&, const auto&) {}), is_refused);
    CHECK_THROWS_WITH(server.add("sum", 1), is_refused);
    CHECK_THROWS_WITH(part.set("key", "other"), is_refused);
    CHECK_THROWS_WITH(TcpStore("localhost", client_of(server)), is_refused);
  }
  CHECK(client.get("key") == "value");
}

TEST_CASE("threads of one client wait concurrently") {
  TcpStore server("localhost", server_options());
  TcpStore client("localhost", client_of(server));
  std::atomic<int> got{0};
  std::vector<base::Thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back("waits", [&, i] {
      if (client.get("key " + std::to_string(i)) == "value") ++got;
    });
  }
  for (int i = 15; i >= 0; --i) client.set("key " + std::to_string(i), "value");
  threads.clear();
  CHECK(got == 16);
}

}  // namespace
}  // namespace distrun::stores
