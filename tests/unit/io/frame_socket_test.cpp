#include <catch2/catch.hpp>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/rng.hpp>
#include <distrun/common/io/frame_socket.hpp>
#include <distrun/common/wire/control.hpp>
#include <distrun/common/wire/packet.hpp>

#include "../support/loop.hpp"
#include "unit/support/limits.hpp"

using namespace distrun;
using namespace distrun::testing;
using io::FrameSocket;
using io::Loop;
using wire::ControlFrame;

namespace {

const wire::Protocol& kLine = wire::kProtocol<ControlFrame>;

// A frame socket, its events, and the other end.
struct Line {
  explicit Line(base::FdPair pair = base::make_socket_pair(SOCK_STREAM))
      : peer(std::move(pair.second)),
        socket(loop, std::move(pair.first), kLine,
               FrameSocket::Handlers{[this](const wire::Frame& frame) { frames.push_back(frame); },
                                     [this](const std::string& why) { closed.push_back(why); }}) {}

  // Sends as much as fits into the peer's socket.
  void peer_sends(const wire::Bytes& bytes) {
    REQUIRE(::send(peer.get(), bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
  }
  // Reads at most `size` bytes; returns their number.
  std::size_t peer_reads(std::size_t size) {
    std::vector<std::byte> buffer(size);
    const ssize_t got = ::recv(peer.get(), buffer.data(), size, MSG_DONTWAIT);
    if (got <= 0) return 0;
    arrived.feed(wire::view_of(buffer.data(), static_cast<std::size_t>(got)));
    return static_cast<std::size_t>(got);
  }

  Loop loop;
  base::Fd peer;
  std::vector<wire::Frame> frames;
  std::vector<std::string> closed;
  wire::FrameSplitter arrived{kLine};
  FrameSocket socket;
};

wire::Bytes note(const std::string& text) { return wire::pack(ControlFrame::Note, 3, wire::Note{"key", text}); }
wire::Bytes large(std::size_t size, int fill) {
  const wire::Bytes payload(size, std::byte(fill));
  return wire::pack_frame(ControlFrame::Stacks, 1, wire::view_of(payload));
}

}  // namespace

TEST_CASE("frames arrive in order, in any pieces they are sent in") {
  Line line;
  wire::Bytes stream;
  for (int i = 0; i < 5; ++i) {
    const wire::Bytes one = note(std::to_string(i));
    stream.insert(stream.end(), one.begin(), one.end());
  }
  const std::size_t half = stream.size() / 2;
  line.peer_sends({stream.begin(), stream.begin() + static_cast<std::ptrdiff_t>(half)});
  run_until(line.loop, [&] { return line.frames.size() >= 2; });
  line.peer_sends({stream.begin() + static_cast<std::ptrdiff_t>(half), stream.end()});
  REQUIRE(run_until(line.loop, [&] { return line.frames.size() == 5; }));
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(line.frames[i].rank == 3);
    CHECK(wire::decode<wire::Note>(wire::view_of(line.frames[i].payload)).value == std::to_string(i));
  }
}

TEST_CASE("a socket asks before it reads more of a frame, and reads no more until it is resumed") {
  Loop loop;
  base::FdPair pair = base::make_socket_pair(SOCK_STREAM);
  std::vector<std::size_t> asked;
  std::size_t frames = 0;
  bool is_open = true;
  FrameSocket::Handlers handlers{[&](const wire::Frame&) { ++frames; }, [](const std::string&) {}};
  handlers.may_read = [&](std::size_t bytes) {
    asked.push_back(bytes);
    return bytes == 0 || is_open;
  };
  FrameSocket socket(loop, std::move(pair.first), kLine, std::move(handlers));
  const wire::Bytes frame = large(100'000, 1);  // more than one read takes
  is_open = false;
  REQUIRE(::send(pair.second.get(), frame.data(), frame.size(), 0) == static_cast<ssize_t>(frame.size()));
  CHECK(run_until(loop, [&] { return asked.size() == 2; }));
  run_ready(loop);
  CHECK(asked == std::vector<std::size_t>{0, frame.size()});
  CHECK(frames == 0);
  is_open = true;
  socket.resume();
  CHECK(run_until(loop, [&] { return frames == 1; }));
}

TEST_CASE("a socket tells how much is queued, and when the peer takes some of it") {
  Loop loop;
  base::FdPair pair = base::make_socket_pair(SOCK_STREAM);
  int taken = 0;
  FrameSocket::Handlers handlers{[](const wire::Frame&) {}, [](const std::string&) {}};
  handlers.on_taken = [&] { ++taken; };
  FrameSocket socket(loop, std::move(pair.first), kLine, std::move(handlers));
  socket.send(note("fits"));
  CHECK(socket.queued() == 0);
  const wire::Bytes frame = large(4'000'000, 1);
  socket.send(frame);
  const std::size_t queued = socket.queued();
  CHECK((queued > 0 && queued < frame.size()));
  run_ready(loop);
  CHECK(taken == 0);
  std::vector<std::byte> sink(1 << 20);
  CHECK(run_until(loop, [&] {
    while (::recv(pair.second.get(), sink.data(), sink.size(), MSG_DONTWAIT) > 0) {
    }
    return socket.queued() == 0;
  }));
  CHECK(taken > 0);
}

TEST_CASE("a peer that closes is reported once, after its last frame") {
  Line line;
  line.peer_sends(note("last"));
  line.peer.reset();
  REQUIRE(run_until(line.loop, [&] { return !line.closed.empty(); }));
  run_ready(line.loop);
  CHECK(line.frames.size() == 1);
  CHECK(line.closed == std::vector<std::string>{"closed"});
  CHECK(line.socket.closed());
}

TEST_CASE("invalid data ends a connection after the frames before it, and nothing is delivered after it") {
  Line line;
  line.peer_sends(note("good"));
  line.peer_sends(wire::Bytes(64, std::byte{0x7f}));
  line.peer_sends(note("lost"));
  REQUIRE(run_until(line.loop, [&] { return !line.closed.empty(); }));
  run_ready(line.loop);
  CHECK(line.frames.size() == 1);
  REQUIRE(line.closed.size() == 1);
  CHECK_THAT(line.closed[0], Catch::Contains("a frame announces 2139062143 bytes"));
  char byte = 0;
  CHECK(::recv(line.peer.get(), &byte, 1, MSG_DONTWAIT) == 0);  // the peer sees end-of-file
}

TEST_CASE("a frame that a handler refuses ends the connection with its reason") {
  Loop loop;
  base::FdPair pair = base::make_socket_pair(SOCK_STREAM);
  std::vector<std::string> closed;
  FrameSocket socket(loop, std::move(pair.first), kLine,
                     FrameSocket::Handlers{[](const wire::Frame&) { throw Error(ErrorKind::Failed, "not now"); },
                                           [&](const std::string& why) { closed.push_back(why); }});
  const wire::Bytes bytes = note("x");
  REQUIRE(::send(pair.second.get(), bytes.data(), bytes.size(), 0) > 0);
  REQUIRE(run_until(loop, [&] { return !closed.empty(); }));
  CHECK(closed == std::vector<std::string>{"not now"});
}

TEST_CASE("frames are sent completely to a reader that takes a few bytes at a time") {
  Line line;
  base::Rng rng(7);
  std::vector<std::size_t> sizes{0, 1, 300'000, 7, 2'000'000, 65'536};
  int number = 0;
  for (const std::size_t size : sizes) line.socket.send(large(size, number++));
  std::size_t frames = 0;
  CHECK(run_until(line.loop, [&] {
    line.peer_reads(1 + rng.below(50'000));
    while (const auto frame = line.arrived.next()) {
      const bool right = frame->payload == wire::Bytes(sizes[frames], std::byte(frames));
      if (!right) FAIL("frame " << frames);
      ++frames;
    }
    return frames == sizes.size();
  }));
  CHECK(line.arrived.pending() == 0);
}

TEST_CASE("a frame that would exceed the limit of the queue is refused completely") {
  Line line;
  line.socket.send(large(wire::kFramePayloadMax, 1));  // a frame of maximum size always fits
  line.socket.send(large(1000, 2));
  ErrorKind kind = ErrorKind::Failed;
  std::string text;
  try {
    line.socket.send(large(wire::kFramePayloadMax, 3));
    line.socket.send(large(wire::kFramePayloadMax, 4));
  } catch (const Error& error) {
    kind = error.kind();
    text = error.what();
  }
  CHECK(kind == ErrorKind::Overloaded);
  CHECK_THAT(text, Catch::Contains("the peer does not read"));
  line.socket.send(large(10, 5));
  std::vector<int> fills;
  CHECK(run_until(line.loop, [&] {
    while (line.peer_reads(1 << 20) > 0) {
    }
    while (const auto frame = line.arrived.next()) fills.push_back(static_cast<int>(frame->payload.front()));
    return !fills.empty() && fills.back() == 5;
  }));
  // All accepted frames have arrived complete and in order.
  CHECK(std::is_sorted(fills.begin(), fills.end()));
  CHECK(fills.front() == 1);
  CHECK(std::find(fills.begin(), fills.end(), 4) == fills.end());
}

TEST_CASE("a peer that closes while frames wait ends the connection once") {
  Line line;
  line.socket.send(large(4'000'000, 1));
  line.peer.reset();
  REQUIRE(run_until(line.loop, [&] { return !line.closed.empty(); }));
  run_ready(line.loop);
  CHECK(line.closed.size() == 1);
  CHECK_NOTHROW(line.socket.send(note("too late")));
  CHECK(line.frames.empty());
}

TEST_CASE("a drain handles the data that has arrived, without the loop") {
  Line line;
  wire::Bytes stream;  // more than one read takes
  while (stream.size() < 100'000) {
    const wire::Bytes one = note(std::string(979, 'x'));
    stream.insert(stream.end(), one.begin(), one.end());
  }
  line.peer_sends(stream);
  line.socket.drain();
  CHECK(line.frames.size() == stream.size() / note(std::string(979, 'x')).size());
  CHECK_FALSE(line.socket.closed());
  line.peer.reset();
  line.socket.drain();
  CHECK(line.closed.size() == 1);
  line.socket.drain();
  CHECK(line.closed.size() == 1);
}

TEST_CASE("a socket may be destroyed while it sends and before its reader reads") {
  auto line = std::make_unique<Line>();
  line->socket.send(large(4'000'000, 1));
  run_ready(line->loop);
  CHECK_NOTHROW(line.reset());
}

TEST_CASE("a peer with a small frame limit is held to it") {
  Loop loop;
  base::FdPair pair = base::make_socket_pair(SOCK_STREAM);
  std::vector<std::string> closed;
  std::vector<wire::Frame> frames;
  FrameSocket::Limits limits;
  limits.payload_max = std::size_t{1} << 20;
  limits.queue_max = 1000;
  FrameSocket socket(loop, std::move(pair.first), kLine,
                     FrameSocket::Handlers{[&](const wire::Frame& frame) { frames.push_back(frame); },
                                           [&](const std::string& why) { closed.push_back(why); }},
                     limits);
  const auto fill = [&] {
    for (int i = 0; i < 100'000; ++i) socket.send(large(900, 1));
  };
  CHECK_THROWS_WITH(fill(), Catch::Contains("the limit is 1000"));
  const wire::Bytes header = wire::pack_frame(ControlFrame::Stacks, 1, {});
  wire::Bytes announced = header;
  announced[2] = std::byte{0x11};  // 1 MiB and 64 KiB
  REQUIRE(::send(pair.second.get(), announced.data(), announced.size(), 0) > 0);
  REQUIRE(run_until(loop, [&] { return !closed.empty(); }));
  CHECK_THAT(closed.front(), Catch::Contains("the limit is 1 MiB"));
  CHECK(frames.empty());
}

TEST_CASE("descriptors arrive in order, and only as many as allowed") {
  Loop loop;
  base::FdPair pair = base::make_socket_pair(SOCK_STREAM);
  std::vector<std::string> closed;
  std::vector<wire::Frame> frames;
  FrameSocket::Limits limits;
  limits.descriptors_max = 3;
  FrameSocket socket(loop, std::move(pair.first), kLine,
                     FrameSocket::Handlers{[&](const wire::Frame& frame) { frames.push_back(frame); },
                                           [&](const std::string& why) { closed.push_back(why); }},
                     limits);
  const base::FdPair pipe = base::make_pipe();
  const std::vector<int> two{pipe.second.get(), pipe.first.get()};
  wire::send_packet(pair.second.get(), wire::view_of(note("with two")), two);
  REQUIRE(run_until(loop, [&] { return frames.size() == 1; }));
  const std::vector<base::Fd> came = socket.take_descriptors();
  REQUIRE(came.size() == 2);
  CHECK((::fcntl(came[0].get(), F_GETFD) & FD_CLOEXEC) != 0);
  REQUIRE(::write(came[0].get(), "x", 1) == 1);
  char byte = 0;
  CHECK(::read(came[1].get(), &byte, 1) == 1);
  CHECK(socket.take_descriptors().empty());
  wire::send_packet(pair.second.get(), wire::view_of(note("with two more")), two);
  REQUIRE(run_until(loop, [&] { return !closed.empty(); }));
  CHECK(closed.front() == "more than 3 descriptors arrived");
}

TEST_CASE("descriptors that this process cannot take are an error when they are requested, and the connection stays") {
  Loop loop;
  base::FdPair pair = base::make_socket_pair(SOCK_STREAM);
  std::vector<wire::Frame> frames;
  FrameSocket::Limits limits;
  limits.descriptors_max = 3;
  FrameSocket socket(
      loop, std::move(pair.first), kLine,
      FrameSocket::Handlers{[&](const wire::Frame& frame) { frames.push_back(frame); }, [](const std::string&) {}},
      limits);
  const base::FdPair pipe = base::make_pipe();
  wire::send_packet(pair.second.get(), wire::view_of(note("with two")),
                    std::vector<int>{pipe.second.get(), pipe.first.get()});
  {
    const distrun::testing::FewFiles few(1);
    socket.drain();
  }
  CHECK(frames.size() == 1);
  CHECK_THROWS_WITH(socket.take_descriptors(), Catch::Contains("cannot receive its peer's descriptors") &&
                                                   Catch::Contains("(RLIMIT_NOFILE); raise it"));
  CHECK_FALSE(socket.closed());
}

TEST_CASE("unexpected descriptors are not kept") {
  Line line;
  const base::FdPair pipe = base::make_pipe();
  wire::send_packet(line.peer.get(), wire::view_of(note("with one")), std::vector<int>{pipe.second.get()});
  REQUIRE(run_until(line.loop, [&] { return line.frames.size() == 1; }));
  CHECK(line.socket.take_descriptors().empty());
  CHECK(line.closed.empty());
}
