// Limits of the memory that all clients of a store's server use together: clients that do not take their answers, or do
// not finish their requests, beside clients that do.
#include <catch2/catch.hpp>

#include <sys/socket.h>

#include <atomic>
#include <memory>
#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/sanitizer.hpp>
#include <distrun/common/base/thread.hpp>
#include <distrun/common/store_server/key_table.hpp>
#include <distrun/common/store_server/tcp_protocol.hpp>
#include <distrun/common/wire/frame.hpp>

#include "serving_child.hpp"
#include "support/error_of.hpp"
#include "support/process.hpp"
#include "support/sandbox.hpp"
#include "unit/store/raw_peer.hpp"

namespace distrun::stores {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr int kClients = 40;
constexpr std::size_t kMuch = 180 * kMiB;  // one large value for each client takes 320 MiB
// More than the sockets of a connection hold.
const std::string& large_value() {
  static const std::string value(kValueSize, 'v');
  return value;
}

// A client that has proved the secret, and sends only what the test sends.
base::Fd raw_client(const ServingChild& child) {
  base::Fd socket = raw::connect_raw(child.port());
  const int small = 64 << 10;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
  raw::greet_as_client(socket, kSecret);
  REQUIRE(raw::hear(socket, 1 + sizeof(std::int32_t)).front() == kWelcome);
  return socket;
}

wire::Bytes asking(Op op, std::vector<std::string> keys, std::vector<std::string> values = {}) {
  Ask ask;
  ask.patience_ns = ask.timeout_ns = std::chrono::nanoseconds(60s).count();
  ask.request = {op, std::move(keys), std::move(values), 0};
  return wire::pack(StoreFrame::Ask, 0, ask);
}
void say(const base::Fd& socket, const wire::Bytes& bytes) {
  raw::say(socket, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}
bool takes(const base::Fd& socket, std::size_t bytes) { return raw::hear(socket, bytes).size() == bytes; }

// Runs `body` on `count` threads at once, each with a client.
template <class Body>
void on_clients(const ServingChild& child, int count, Body body) {
  std::vector<std::unique_ptr<base::Thread>> threads;
  for (int i = 0; i < count; ++i) {
    threads.push_back(std::make_unique<base::Thread>("client", [&child, &body, i] {
      TcpStore client("127.0.0.1", child.client());
      body(client, i);
    }));
  }
  for (const auto& each : threads) each->join();
}

}  // namespace

TEST_CASE("clients that do not take their answers hold a limited part of the memory, and are ended for others") {
  const ServingChild child({.answers = 16 * kMiB, .idle = 200ms});
  TcpStore client("127.0.0.1", child.client());
  client.set("large", large_value());
  std::vector<base::Fd> stopped;
  for (int i = 0; i < kClients; ++i) say(stopped.emplace_back(raw_client(child)), asking(Op::Get, {"large"}));
  for (int i = 0; i < 10; ++i) CHECK(client.get("large") == large_value());
  int ended = 0;
  for (const base::Fd& each : stopped) ended += takes(each, kValueSize) ? 0 : 1;
  CHECK(ended > 0);
  if (!base::kSanitized) CHECK(child.peak_bytes() < kMuch);
}

TEST_CASE("clients that do not take their answers are left alone as long as there is room for others") {
  const ServingChild child({.answers = 64 * kMiB, .idle = 1ms, .whole = 1ms});
  TcpStore client("127.0.0.1", child.client());
  client.set("large", large_value());
  const base::Fd slow = raw_client(child);
  say(slow, asking(Op::Get, {"large"}));
  for (int i = 0; i < 20; ++i) CHECK(client.get("large") == large_value());
  CHECK(takes(slow, kValueSize));
}

TEST_CASE("a client that takes its answer too slowly is ended for others") {
  const ServingChild child({.answers = kMiB, .idle = 60s, .whole = 300ms});
  TcpStore client("127.0.0.1", child.client());
  client.set("large", large_value());
  const base::Fd slow = raw_client(child);
  say(slow, asking(Op::Get, {"large"}));
  CHECK(client.get("large") == large_value());
  CHECK_FALSE(takes(slow, kValueSize));
}

TEST_CASE("many clients that wait for one large value all get it, within the limit of answers") {
  const ServingChild child({.answers = 16 * kMiB});
  TcpStore client("127.0.0.1", child.client());
  std::atomic<int> got{0};
  base::Thread sets("sets", [&] {
    client.wait({"here" + std::to_string(kClients - 1)}, 30s);
    client.set("large", large_value());
  });
  on_clients(child, kClients, [&](TcpStore& own, int i) {
    own.set("here" + std::to_string(i), "");
    if (own.get("large") == large_value()) ++got;
  });
  CHECK(got == kClients);
  if (!base::kSanitized) CHECK(child.peak_bytes() < kMuch);
}

TEST_CASE("large requests arrive a few at a time, and each is served") {
  const ServingChild child({.requests = 16 * kMiB});
  std::atomic<int> done{0};
  on_clients(child, kClients, [&](TcpStore& own, int) {
    own.set("same", large_value());
    ++done;
  });
  CHECK(done == kClients);
  if (!base::kSanitized) CHECK(child.peak_bytes() < kMuch);
}

TEST_CASE("requests that do not arrive whole hold a limited part of the memory, and are ended for others") {
  const ServingChild child({.requests = 16 * kMiB, .whole = 200ms});
  const wire::Bytes request = asking(Op::Set, {"key"}, {large_value()});
  std::vector<base::Fd> stopped;
  std::vector<std::unique_ptr<base::Thread>> senders;
  for (int i = 0; i < kClients; ++i) stopped.push_back(raw_client(child));
  for (const base::Fd& each : stopped) {
    senders.push_back(std::make_unique<base::Thread>("sends", [&each, &request] {
      raw::say(each, {reinterpret_cast<const char*>(request.data()), request.size() - 1});
    }));
  }
  TcpStore client("127.0.0.1", child.client());
  for (int i = 0; i < 5; ++i) client.set("large", large_value());
  CHECK(client.get("large") == large_value());
  for (const auto& each : senders) each->join();  // ended, or taken whole
  if (!base::kSanitized) CHECK(child.peak_bytes() < kMuch);
}

TEST_CASE("a server gives back the memory of the large requests of clients that stay") {
  const ServingChild child;
  std::vector<std::unique_ptr<TcpStore>> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.push_back(std::make_unique<TcpStore>("127.0.0.1", child.client()));
    clients.back()->set("same", large_value());
  }
  if (!base::kSanitized) CHECK(child.peak_bytes() < kMuch);
  CHECK(clients.front()->get("same") == large_value());
}

}  // namespace distrun::stores
