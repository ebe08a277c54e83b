#include <catch2/catch.hpp>

#include <malloc.h>
#include <poll.h>
#include <sys/socket.h>

#include <csignal>

#include <distrun/rank/control_line.hpp>
#include <distrun/rank/stack_dump.hpp>

#include "../support/forked.hpp"
#include "symbols.hpp"

using namespace distrun;

namespace {

constexpr int kPatienceMs = 10'000;

void send_frame(int socket, const wire::Bytes& frame) {
  (void)!::send(socket, frame.data(), frame.size(), MSG_NOSIGNAL);
}

std::optional<wire::Frame> receive_frame(int socket) {
  wire::FrameSplitter splitter;
  std::array<std::byte, 4096> buffer;
  for (pollfd line{socket, POLLIN, 0}; ::poll(&line, 1, kPatienceMs) > 0;) {
    const ssize_t got = ::recv(socket, buffer.data(), buffer.size(), 0);
    if (got <= 0) break;
    splitter.feed(wire::view_of(buffer.data(), static_cast<std::size_t>(got)));
    if (auto frame = splitter.next()) return frame;
  }
  return std::nullopt;
}

// A child that has its order, and whose main thread runs `body` then; what its listener tells of its stacks.
template <class Body>
std::optional<wire::RawStacks> stacks_while(const Body& body) {
  auto [ours, theirs] = base::make_socket_pair(SOCK_STREAM);
  const pid_t child = testing::fork_child([&, &rank_end = theirs] {
    rank::prepare_stack_dump();
    rank::ControlLine line(std::move(rank_end));
    line.receive_order();
    line.start_listening();
    line.send(wire::FrameKind::Hello, wire::Hello{});
    body();
    return 0;
  });
  theirs.reset();
  wire::RunOrder order;
  order.coordinator_pid = ::getpid();
  send_frame(ours.get(), wire::pack(wire::FrameKind::Run, 3, order));
  std::optional<wire::RawStacks> stacks;
  if (receive_frame(ours.get())) {  // its hello: the body begins
    send_frame(ours.get(), wire::pack_frame(wire::FrameKind::DumpStacks, 3, {}));
    const auto answer = receive_frame(ours.get());
    if (answer && answer->kind == wire::FrameKind::Stacks && answer->rank == 3) {
      stacks = wire::decode<wire::RawStacks>(wire::view_of(answer->payload));
    }
  }
  ::kill(child, SIGKILL);
  testing::wait_for(child);
  return stacks;
}

[[gnu::noinline]] void hang_here() {
  for (;;) ::pause();
}

[[gnu::noinline]] void spin_here() {
  for (volatile int turns = 0;; turns = turns + 1) {
  }
}

}  // namespace

TEST_CASE("a listener answers with all stacks while the body hangs, spins, or has used up malloc") {
  const testing::Symbols symbols;
  const auto hanging = stacks_while(hang_here);
  REQUIRE(hanging);
  REQUIRE(hanging->threads.size() == 2);
  CHECK(hanging->threads[0].name == "distrun-listen");
  CHECK(symbols.has_function(hanging->threads[1], "hang_here"));

  const auto spinning = stacks_while(spin_here);
  REQUIRE(spinning);
  CHECK(symbols.has_function(spinning->threads[1], "spin_here"));
}

TEST_CASE("a listener answers while the body holds the only arena of malloc") {
  const auto stacks = stacks_while([] {
    ::mallopt(M_ARENA_MAX, 1);
    // glibc holds every arena while it forks, and runs this handler in the middle of it.
    ::pthread_atfork(hang_here, nullptr, nullptr);
    ::fork();
  });
  REQUIRE(stacks);
  REQUIRE(stacks->threads.size() == 2);
  CHECK(testing::Symbols().has_function(stacks->threads[1], "hang_here"));
}

TEST_CASE("a body that blocks all signals is told, and keeps nobody from an answer") {
  const auto stacks = stacks_while([] {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
    hang_here();
  });
  REQUIRE(stacks);
  REQUIRE(stacks->threads.size() == 2);
  CHECK(stacks->threads[1].why_none == "it blocks the signal that asks for its stack");
}
