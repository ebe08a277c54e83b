#include <catch2/catch.hpp>

#include <sys/socket.h>
#include <unistd.h>

#include <distrun/common/base/error.hpp>
#include <distrun/common/io/packet_socket.hpp>
#include <distrun/common/wire/zygote.hpp>

#include "../support/loop.hpp"

using namespace distrun;
using namespace distrun::testing;
using io::PacketSocket;

namespace {

struct Line {
  explicit Line(base::FdPair pair = base::make_socket_pair(SOCK_SEQPACKET))
      : peer(std::move(pair.second)),
        socket(loop, std::move(pair.first),
               PacketSocket::Handlers{[this](wire::Packet packet) { packets.push_back(std::move(packet)); },
                                      [this] { ++closed; }}) {}

  io::Loop loop;
  base::Fd peer;
  std::vector<wire::Packet> packets;
  int closed = 0;
  PacketSocket socket;
};

const wire::Bytes kBytes(3, std::byte{7});

}  // namespace

TEST_CASE("packets arrive in order, with their descriptors") {
  Line line;
  const base::FdPair pipe = base::make_pipe();
  wire::send_packet(line.peer.get(), wire::view_of(kBytes), std::vector<int>{pipe.second.get()});
  wire::send_packet(line.peer.get(), wire::view_of(wire::Bytes(1)));
  REQUIRE(run_until(line.loop, [&] { return line.packets.size() == 2; }));
  CHECK(line.packets[0].bytes == kBytes);
  REQUIRE(line.packets[0].fds.size() == 1);
  REQUIRE(::write(line.packets[0].fds[0].get(), "x", 1) == 1);
  char byte = 0;
  CHECK(::read(pipe.first.get(), &byte, 1) == 1);
  CHECK(line.packets[1].fds.empty());
}

TEST_CASE("packets that have arrived can be read at once, without the loop") {
  Line line;
  line.socket.drain();
  CHECK(line.packets.empty());
  CHECK_FALSE(line.socket.closed());
  wire::send_packet(line.peer.get(), wire::view_of(kBytes));
  wire::send_packet(line.peer.get(), wire::view_of(wire::Bytes(1)));
  line.peer.reset();
  line.socket.drain();
  CHECK(line.packets.size() == 2);
  CHECK(line.closed == 1);
  line.socket.drain();
  CHECK(line.closed == 1);
}

TEST_CASE("packets are sent with their descriptors") {
  Line line;
  const base::FdPair pipe = base::make_pipe();
  line.socket.send(wire::view_of(kBytes), std::vector<int>{pipe.first.get(), pipe.second.get()});
  const auto packet = wire::receive_packet(line.peer.get());
  REQUIRE(packet);
  CHECK(packet->bytes == kBytes);
  CHECK(packet->fds.size() == 2);
}

TEST_CASE("a peer that closes is reported once, after its last packet") {
  Line line;
  wire::send_packet(line.peer.get(), wire::view_of(kBytes));
  line.peer.reset();
  REQUIRE(run_until(line.loop, [&] { return line.closed > 0; }));
  run_ready(line.loop);
  CHECK(line.packets.size() == 1);
  CHECK(line.closed == 1);
  CHECK(line.socket.closed());
  CHECK_THROWS_AS(line.socket.send(wire::view_of(kBytes)), Error);
}

TEST_CASE("a peer that does not read is an error, and does not block") {
  Line line;
  const wire::Bytes large(wire::kPacketSizeMax);
  ErrorKind kind = ErrorKind::Failed;
  try {
    for (int i = 0; i < 10000; ++i) line.socket.send(wire::view_of(large));
  } catch (const Error& error) {
    kind = error.kind();
  }
  CHECK(kind == ErrorKind::Overloaded);
  CHECK(line.closed == 0);
}
