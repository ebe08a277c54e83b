#include <catch2/catch.hpp>

#include <sys/socket.h>
#include <sys/un.h>

#include <functional>
#include <thread>

#include <distrun/common/base/error.hpp>
#include <distrun/common/io/ask.hpp>
#include <distrun/common/wire/control.hpp>

#include "support/scratch.hpp"

using namespace distrun;
using namespace distrun::testing;
using wire::ControlFrame;

namespace {

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  return address;
}

ErrorKind kind_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.kind();
  }
  FAIL("it threw nothing");
  return ErrorKind::Failed;
}

const wire::Protocol& kAskLine = wire::kProtocol<ControlFrame>;
const wire::Bytes kQuestion = wire::pack(ControlFrame::Note, 0, wire::Note{"a", "question"});

}  // namespace

TEST_CASE("the first frame is the answer, in any pieces it arrives in") {
  base::FdPair pair = base::make_socket_pair(SOCK_STREAM);
  const wire::Bytes answer = wire::pack(ControlFrame::Done, 0, wire::Done{true, 7});
  std::thread peer([&] {
    std::byte buffer[256];
    if (::recv(pair.second.get(), buffer, sizeof buffer, 0) != static_cast<ssize_t>(kQuestion.size())) return;
    for (const std::byte& byte : answer) (void)!::send(pair.second.get(), &byte, 1, MSG_NOSIGNAL);
  });
  const wire::Frame frame = io::ask(pair.first.get(), kAskLine, kQuestion, "it");
  peer.join();
  CHECK(frame.is(ControlFrame::Done));
  CHECK(wire::decode<wire::Done>(wire::view_of(frame.payload)).checks == 7);
}

TEST_CASE("the answer before the end of a connection is read, though the question could not be sent") {
  base::FdPair pair = base::make_socket_pair(SOCK_STREAM);
  const wire::Bytes refusal = wire::pack(ControlFrame::Done, 0, wire::Done{false, 0});
  REQUIRE(::send(pair.second.get(), refusal.data(), refusal.size(), 0) > 0);
  pair.second.reset();
  CHECK(io::ask(pair.first.get(), kAskLine, kQuestion, "it").is(ControlFrame::Done));
  CHECK(kind_of([&] { io::ask(pair.first.get(), kAskLine, kQuestion, "it"); }) == ErrorKind::Disconnected);
}

TEST_CASE("a connection that no process listens for fails at once") {
  const Scratch scratch;
  const sockaddr_un address = address_of(scratch.path() + "/none.sock");
  CHECK(kind_of([&] { io::connect_to(&address, sizeof address, "it"); }) == ErrorKind::Disconnected);
}

TEST_CASE("a server that accepts no connection, or does not answer, is waited for five seconds") {
  const Scratch scratch;
  const sockaddr_un address = address_of(scratch.path() + "/full.sock");
  const base::Fd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  REQUIRE(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(::listen(listener.get(), 0) == 0);
  const base::Fd first = io::connect_to(&address, sizeof address, "it");
  ErrorKind silent = ErrorKind::Failed;
  std::thread asks([&] {  // meanwhile
    try {
      io::ask(first.get(), kAskLine, kQuestion, "it");
    } catch (const Error& error) {
      silent = error.kind();
    }
  });
  CHECK(kind_of([&] { io::connect_to(&address, sizeof address, "it"); }) == ErrorKind::Timeout);
  asks.join();
  CHECK(silent == ErrorKind::Timeout);
}
