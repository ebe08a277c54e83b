// A process that does nothing but serve a store.
#include <catch2/catch.hpp>

#include <memory>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/fd.hpp>
#include <distrun/common/base/sanitizer.hpp>
#include <distrun/common/base/thread.hpp>
#include <distrun/common/store_server/key_table.hpp>
#include <distrun/common/store_server/store_server.hpp>
#include <distrun/common/store_server/tcp_address.hpp>
#include <distrun/runtime/store/tcp_store.hpp>

#include "serving_child.hpp"
#include "support/error_of.hpp"
#include "support/sandbox.hpp"

namespace distrun::stores {
namespace {

using testing::error_of;

TEST_CASE("a process serves a store at a socket that already listens, until a pipe is at its end") {
  ServingChild child;
  TcpStore first("127.0.0.1", child.client());
  TcpStore second("127.0.0.1", child.client());
  first.set("key", "value");
  CHECK(second.get("key") == "value");
  child.write("bytes that mean nothing");
  CHECK(second.add("sum", 2) == 2);
  CHECK(child.end() == 0);
  const Error error = error_of([&] { first.get("key"); });
  CHECK(error.kind() == ErrorKind::Disconnected);
  CHECK_THAT(error.text(), Catch::Contains("the store at 127.0.0.1:" + std::to_string(child.port())));
}

TEST_CASE("a process that serves a store tells those without its secret nothing, and ends with its clients connected") {
  ServingChild child;
  TcpStoreOptions thief = child.client();
  thief.secret = "open barley";
  CHECK(error_of([&] { TcpStore("127.0.0.1", thief); }).kind() == ErrorKind::Disconnected);
  TcpStore client("127.0.0.1", child.client());
  CHECK(client.num_keys() == 0);
  CHECK(child.end() == 0);
}

TEST_CASE("a store that a process serves reports a missing key as each store does") {
  const ServingChild child;
  TcpStore client("127.0.0.1", child.client());
  client.set("step", "1");
  const Error error = error_of([&] { client.wait({"stepp"}, 10ms); });
  CHECK(error.type() == "DistStoreError");
  CHECK_THAT(error.text(), Catch::StartsWith("wait timeout after 10.0 ms, keys: stepp (did you mean step?)"));
}

// A request may name a key often, so that large requests wait for little.
TEST_CASE("requests that wait take a limited part of the server's memory, and others are refused until one is done") {
  constexpr std::size_t kMany = 8000, kFew = 600;  // four requests of 66 MB have room, a fifth of 5 MB has not
  const ServingChild child;
  TcpStore client("127.0.0.1", child.client());
  const std::string there(kKeySize, 'k');
  client.set(there, "");
  const auto wait_for = [&there](TcpStore& store, std::size_t size, const std::string& missing,
                                 base::Nanoseconds limit) {
    std::vector<std::string> keys(size, there);
    keys.push_back(missing);
    store.wait(keys, limit);
  };
  std::vector<std::unique_ptr<base::Thread>> waiting;
  for (int i = 0; i < 4; ++i) {
    waiting.push_back(std::make_unique<base::Thread>("waits", [&, i] {
      TcpStore own("127.0.0.1", child.client());
      for (bool has_waited = false; !has_waited;) {  // a request of more() may take the room for the last one
        try {
          wait_for(own, kMany, "go" + std::to_string(i), 120s);
          has_waited = true;
        } catch (const Error& error) {
          if (error.kind() != ErrorKind::Overloaded) throw;
        }
      }
    }));
  }
  const auto more = [&] { return error_of([&] { wait_for(client, kFew, "never", 10ms); }); };
  CHECK(testing::eventually(testing::scaled(60s), [&] {
    const Error error = more();
    return error.kind() == ErrorKind::Overloaded &&
           error.text().find("bytes are already waiting for keys of this store") != std::string::npos;
  }));
  client.set("go0", "");
  waiting.front()->join();
  CHECK(more().kind() == ErrorKind::Timeout);  // it has waited
  for (int i = 1; i < 4; ++i) client.set("go" + std::to_string(i), "");
  for (std::size_t i = 1; i < waiting.size(); ++i) waiting[i]->join();
  if (!base::kSanitized) CHECK(child.peak_bytes() < std::size_t{1} << 30);
}

TEST_CASE("a call whose request a stopped server does not take ends ten seconds after its timeout") {
  const ServingChild child;
  TcpStore client("127.0.0.1", child.client());
  client.set_timeout(100ms);
  child.stop();
  const base::TimePoint before = base::system_clock().now();
  const Error error = error_of([&] { client.set("key", std::string(kValueSize, 'v')); });
  CHECK(base::system_clock().now() - before < testing::scaled(15s));
  child.go_on();
  CHECK(error.kind() == ErrorKind::Timeout);
  CHECK_THAT(error.text(), Catch::StartsWith("waiting for the key key: the server of the store, at 127.0.0.1:") &&
                               Catch::EndsWith("does not answer"));
  client.set("key", "value");
  CHECK(client.get("key") == "value");
}

TEST_CASE("an address that is not this machine's cannot be listened at, and the error names it") {
  const Error error = error_of([] { listen_for_store("192.0.2.1", 0); });  // an address of documentation
  CHECK(error.kind() == ErrorKind::Failed);
  CHECK_THAT(error.text(), Catch::Contains("192.0.2.1:0"));
}

}  // namespace
}  // namespace distrun::stores
