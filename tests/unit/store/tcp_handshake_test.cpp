// The handshake of a TCP store with ends that do not know its secret, eavesdrop on others, or have another version.
#include <catch2/catch.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/thread.hpp>
#include <distrun/runtime/store/tcp_store.hpp>

#include "raw_peer.hpp"
#include "support/error_of.hpp"

namespace distrun::stores {
namespace {

using namespace std::chrono_literals;
using raw::challenge;
using raw::connect_raw;
using raw::hear;
using raw::hear_all;
using raw::RawListener;
using raw::say;
using testing::error_of;

constexpr char kSesame[] = "open sesame";
const std::string kNo(1, kRefusal);

TcpStoreOptions sesame_at(std::uint16_t port) { return {.port = port, .timeout = 30s, .secret = kSesame}; }
TcpStoreOptions sesame_server() { return {.is_server = true, .secret = kSesame}; }

// Returns the error of a client that connects to a listener which runs `answer`.
template <class Answer>
Error error_at(const RawListener& listener, const Answer& answer) {
  std::optional<Error> error;
  base::Thread client("client",
                      [&] { error = error_of([&] { TcpStore store("127.0.0.1", sesame_at(listener.port())); }); });
  answer(listener.accept());
  client.join();
  CHECK(error->kind() == ErrorKind::Disconnected);
  CHECK_THAT(error->text(), Catch::StartsWith("the store at 127.0.0.1:" + std::to_string(listener.port()) + ": "));
  return *error;
}

TEST_CASE("a listener that does not know the secret is named, and learns nothing that opens the store") {
  TcpStore server("localhost", sesame_server());
  const RawListener listener;
  std::string recorded;
  const Error error = error_at(listener, [&](const base::Fd& client) {
    recorded = hear(client, kHelloSize);
    say(client, std::string(kHandshake.listener_magic) + std::string(proof::kNonceSize + proof::kProofSize, 'x'));
    recorded += hear_all(client);
  });
  CHECK_THAT(error.text(), Catch::Contains("it does not know this client's secret; give the server and its clients"));
  CHECK(recorded.size() == kHelloSize);
  CHECK(recorded.find(kSesame) == std::string::npos);

  const base::Fd thief = connect_raw(server.port());
  say(thief, recorded);
  const std::string answer = hear(thief, kAnswerSize);
  REQUIRE(answer.size() == kAnswerSize);
  SECTION("by its recording") { say(thief, recorded.substr(kHelloSize - proof::kProofSize)); }
  SECTION("by the proof of the server itself") { say(thief, answer.substr(kAnswerSize - proof::kProofSize)); }
  SECTION("by the nonce of the server") { say(thief, answer.substr(kMagicSize, proof::kProofSize)); }
  CHECK(hear_all(thief) == kNo);
  CHECK(server.add("alive", 1) == 1);
}

TEST_CASE("a recorded handshake does not open the store to others, and deceives no client") {
  TcpStore server("localhost", sesame_server());
  const RawListener listener;
  std::string from_client, from_server;
  {
    base::Thread between("between", [&] {
      const base::Fd client = listener.accept();
      const base::Fd upstream = connect_raw(server.port());
      const auto pass = [](const base::Fd& from, const base::Fd& to, std::size_t size) {
        const std::string bytes = hear(from, size);
        say(to, bytes);
        return bytes;
      };
      from_client = pass(client, upstream, kHelloSize);
      from_server = pass(upstream, client, kAnswerSize);
      from_client += pass(client, upstream, proof::kProofSize);
      from_server += pass(upstream, client, 1 + sizeof(std::int32_t));
    });
    const TcpStore store("127.0.0.1", sesame_at(listener.port()));
  }
  REQUIRE(from_client.size() == kHelloSize + proof::kProofSize);
  REQUIRE(from_server[kAnswerSize] == kWelcome);

  const base::Fd thief = connect_raw(server.port());
  say(thief, from_client);
  CHECK(hear_all(thief).substr(kAnswerSize) == kNo);
  const Error error = error_at(listener, [&](const base::Fd& client) {
    say(client, from_server);
    CHECK(hear_all(client).size() == kHelloSize);
  });
  CHECK_THAT(error.text(), Catch::Contains("it does not know this client's secret"));
}

TEST_CASE("a client without the secret is refused at once, and its server counts refused clients") {
  const TcpStore server("localhost", sesame_server());
  for (const char* const wrong : {"", "open sesam", "open sesame!", "OPEN SESAME"}) {
    const base::Fd client = connect_raw(server.port());
    say(client, proof::prove(wrong, kHandshake.name, proof::Side::Connector, challenge(client)));
    CHECK(hear_all(client) == kNo);
    TcpStoreOptions other = sesame_at(server.port());
    other.secret = wrong;
    CHECK_THAT(error_of([&] { TcpStore store("localhost", other); }).text(),
               Catch::Contains("it does not know this client's secret"));
  }
  const base::Fd of_another_side = connect_raw(server.port());
  say(of_another_side, proof::prove(kSesame, kHandshake.name, proof::Side::Listener, challenge(of_another_side)));
  CHECK(hear_all(of_another_side) == kNo);
}

TEST_CASE("a server that misses clients says that some were refused") {
  const auto port = [] { return RawListener().port(); }();
  base::Thread stranger("stranger", [&] {
    TcpStoreOptions other = sesame_at(port);
    other.secret = "another";
    other.is_server = false;
    CHECK_THAT(error_of([&] { TcpStore store("localhost", other); }).text(),
               Catch::Contains("it does not know this client's secret"));
  });
  TcpStoreOptions options = sesame_server();
  options.port = port;
  options.world_size = 2;
  options.timeout = 2s;
  const Error error = error_of([&] { TcpStore server("localhost", options); });
  CHECK_THAT(
      error.text(),
      Catch::EndsWith(
          "1/2 clients joined. 1 connection was refused because of another secret or another version of distrun."));
}

TEST_CASE("a client of another version gets the version of the server") {
  const TcpStore server("localhost", sesame_server());
  for (const std::string begin : {"dstore-1", "dstore-2", "dstore-4"}) {
    const base::Fd client = connect_raw(server.port());
    say(client, begin + std::string(64, 's'));
    CHECK(hear_all(client) == kHandshake.listener_magic);
  }
}

TEST_CASE("a server of another version is named by its client") {
  const RawListener listener;
  const auto error_for = [&](const std::string& answer) {
    return error_at(listener,
                    [&](const base::Fd& client) {
                      say(client, answer);
                      CHECK(hear_all(client).size() <= kHelloSize);
                    })
        .text();
  };
  CHECK_THAT(error_for("dstore+4"), Catch::EndsWith("it speaks version 4 of the protocol, but this client speaks "
                                                    "version 3; use the same version of distrun on both sides"));
  CHECK_THAT(error_for("dstore+2\1\2\3\4"), Catch::Contains("it speaks version 2 of the protocol"));
  CHECK_THAT(error_for("dstore+\x1b"), Catch::Contains("it speaks version \\x1b of the protocol"));
  CHECK_THAT(error_for("HTTP/1.1 400 Bad Request\r\n\r\n"), Catch::EndsWith("it is not a store"));
  const Error closed = error_at(listener, [](const base::Fd& client) { hear(client, kHelloSize); });
  CHECK_THAT(closed.text(),
             Catch::EndsWith("it closed the connection without an answer: it is not a store, or has another version"));
}

TEST_CASE("a listener that is slow with its proof is waited for no longer than the timeout") {
  const RawListener listener;
  TcpStoreOptions options = sesame_at(listener.port());
  options.timeout = 50ms;
  std::optional<Error> error;
  base::Thread client("client", [&] { error = error_of([&] { TcpStore store("127.0.0.1", options); }); });
  const base::Fd slow = listener.accept();
  say(slow, std::string(kHandshake.listener_magic) + "half of a nonce");
  client.join();
  CHECK_THAT(error->text(), Catch::EndsWith(": it does not answer"));
}

TEST_CASE("a handshake may arrive byte by byte") {
  TcpStore server("localhost", sesame_server());
  const base::Fd client = connect_raw(server.port());
  proof::Nonces nonces{proof::make_nonce(), {}};
  for (const char byte : std::string(kHandshake.connector_magic) + nonces.connector) say(client, std::string(1, byte));
  nonces.listener = hear(client, kAnswerSize).substr(kMagicSize, proof::kNonceSize);
  for (const char byte : proof::prove(kSesame, kHandshake.name, proof::Side::Connector, nonces)) {
    say(client, std::string(1, byte));
  }
  CHECK(hear(client, 1) == std::string(1, kWelcome));
}

}  // namespace
}  // namespace distrun::stores
