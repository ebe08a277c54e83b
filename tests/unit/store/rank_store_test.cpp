#include <catch2/catch.hpp>

#include <cstdlib>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/thread.hpp>
#include <distrun/common/store_server/store_server.hpp>
#include <distrun/runtime/store/rank_store.hpp>
#include <distrun/runtime/store/tcp_store.hpp>

#include "raw_peer.hpp"
#include "support/error_of.hpp"
#include "unit/core/fake_rank_line.hpp"
#include "unit/core/on_host.hpp"

namespace distrun::stores {
namespace {

TEST_CASE("a process that is not a rank of a test gets an error that says how to get a store") {
  ::unsetenv("DISTRUN_STORE");
  const Error error = testing::error_of([] { rank_store(); });
  CHECK(error.kind() == ErrorKind::Unimplemented);
  CHECK_THAT(error.text(), Catch::Contains("$DISTRUN_STORE is not set") && Catch::Contains("rendezvous()"));
}

TEST_CASE("ranks of several hosts share a store that a server has, by IPv4, IPv6 or a name") {
  const std::string host = GENERATE(as<std::string>(), "127.0.0.1", "[::1]", "localhost");
  const StoreServer server(host.starts_with('[') ? "::1" : host, 0, "open sesame");
  ::setenv("DISTRUN_STORE", ("tcp://" + host + ":" + std::to_string(server.port())).c_str(), 1);
  ::setenv("DISTRUN_STORE_SECRET", "open sesame", 1);
  const auto first = rank_store(), second = rank_store();
  first->set("key", "value");
  CHECK(second->get("key") == "value");
  CHECK(second->timeout() == Store::kTimeout);
  ::setenv("DISTRUN_STORE_SECRET", "open barley", 1);
  CHECK_THAT(testing::error_of([] { rank_store(); }).text(), Catch::Contains("does not know this client's secret"));
  ::unsetenv("DISTRUN_STORE_SECRET");
}

TEST_CASE("an address of a store's server without host or port is refused, with what is wrong") {
  const auto [address, why] = GENERATE(table<std::string, std::string>({
      {"tcp://", "the port is missing"},
      {"tcp://host", "the port is missing"},
      {"tcp://[::1]", "the port is missing"},
      {"tcp://:1", "the host is missing"},
      {"tcp://[]:1", "the host is missing"},
      {"tcp://::1:80", "an IPv6 address needs brackets"},
      {"tcp://host:0", "\"0\" is not a port, a number from 1 to 65535"},
      {"tcp://host:65536", "\"65536\" is not a port, a number from 1 to 65535"},
      {"tcp://host:80/x", "\"80/x\" is not a port, a number from 1 to 65535"},
  }));
  ::setenv("DISTRUN_STORE", address.c_str(), 1);
  const Error error = testing::error_of([] { rank_store(); });
  CHECK(error.kind() == ErrorKind::InvalidArgument);
  CHECK(error.text() == "$DISTRUN_STORE is \"" + address + "\": " + why +
                            "; expected a path, or the address of a store's server, as in tcp://10.77.0.1:40123 or "
                            "tcp://[fd00::1]:40123");
}

TEST_CASE("the process id of a store's server names a rank only if the server is on this host") {
  constexpr std::int32_t kPid = 4'190'000;
  const testing::OnHost here("a=0-1;b=2", "127.0.0.1", 0);
  testing::FakeRank rank;
  rank.line.pids = {{1, kPid}};
  const auto [host, text] = GENERATE(table<std::string, std::string>({
      {"127.0.0.1", "its server, rank 1 (process 4190000), is gone"},
      {"127.0.0.2", "its server, process 4190000, is gone"},
  }));
  const base::Fd listening = listen_for_store(host, 0);
  base::set_nonblocking(listening.get(), false);
  base::Thread server("server", [&] {
    const base::Fd client(::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC));
    const proof::Nonces nonces{raw::hear(client, kHelloSize).substr(kMagicSize), proof::make_nonce()};
    raw::say(client, std::string(kHandshake.listener_magic) + nonces.listener +
                         proof::prove("x", kHandshake.name, proof::Side::Listener, nonces));
    raw::hear(client, proof::kProofSize);
    raw::say(client, std::string(1, kWelcome).append(reinterpret_cast<const char*>(&kPid), sizeof kPid));
  });
  TcpStore store(host, {.port = port_of(listening.get()), .secret = "x"});
  server.join();
  CHECK_THAT(testing::error_of([&] { store.get("key"); }).text(), Catch::Contains(text));
}

}  // namespace
}  // namespace distrun::stores
