#include <catch2/catch.hpp>

#include <malloc.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <array>
#include <csignal>
#include <cstdlib>

#include <distrun/plugin/rank/control_line.hpp>
#include <distrun/plugin/rank/stack_dump.hpp>

#include "../support/forked.hpp"
#include "support/skip.hpp"
#include "symbols.hpp"

using namespace distrun;

namespace {

constexpr int kPatienceMs = 10'000;

void send_frame(int socket, const wire::Bytes& frame) {
  (void)!::send(socket, frame.data(), frame.size(), MSG_NOSIGNAL);
}

std::optional<wire::Frame> receive_frame(int socket) {
  wire::FrameSplitter splitter(wire::kProtocol<wire::ControlFrame>);
  std::array<std::byte, 4096> buffer;
  for (pollfd line{socket, POLLIN, 0}; ::poll(&line, 1, kPatienceMs) > 0;) {
    const ssize_t got = ::recv(socket, buffer.data(), buffer.size(), 0);
    if (got <= 0) break;
    splitter.feed(wire::view_of(buffer.data(), static_cast<std::size_t>(got)));
    if (auto frame = splitter.next()) return frame;
  }
  return std::nullopt;
}

// In the child, tells the parent that the body has reached its state. Async-signal-safe.
int line_fd = -1;
wire::Bytes hello;
void say_hello() { send_frame(line_fd, hello); }

// Runs `body` on the main thread of a child that has its order; returns the stacks that its listener reports.
template <class Body>
std::optional<wire::RawStacks> stacks_while(const Body& body) {
  auto [ours, theirs] = base::make_socket_pair(SOCK_STREAM);
  const pid_t child = testing::fork_child([&, &rank_end = theirs] {
    rank::prepare_stack_dump();
    line_fd = rank_end.get();
    hello = wire::pack(wire::ControlFrame::Hello, 3, wire::Hello{});
    rank::ControlLine line(std::move(rank_end));
    line.receive_order();
    board::SlotWriter writer;
    rank::Inbox inbox(3, 1, writer);
    line.start_listening({&inbox});
    body();
    return 0;
  });
  theirs.reset();
  wire::RunOrder order;
  order.coordinator_pid = ::getpid();
  send_frame(ours.get(), wire::pack(wire::ControlFrame::Run, 3, order));
  std::optional<wire::RawStacks> stacks;
  if (receive_frame(ours.get())) {  // its hello
    send_frame(ours.get(), wire::pack_frame(wire::ControlFrame::DumpStacks, 3, {}));
    const auto answer = receive_frame(ours.get());
    if (answer && answer->is(wire::ControlFrame::Stacks) && answer->rank == 3) {
      stacks = wire::decode<wire::RawStacks>(wire::view_of(answer->payload));
    }
  }
  ::kill(child, SIGKILL);
  testing::wait_for(child);
  return stacks;
}

[[gnu::noinline]] void hang_here() {
  say_hello();
  for (;;) ::pause();
}

[[gnu::noinline]] void spin_here() {
  say_hello();
  for (;;) asm volatile("");
}

// Faults within malloc, which then holds the lock of its only arena, and hangs in the handler of that fault.
[[gnu::noinline]] void hang_in_malloc() {
  ::signal(SIGSEGV, [](int) { hang_here(); });
  ::mallopt(M_ARENA_MAX, 1);
  constexpr std::uintptr_t kPage = 4096;
  [[maybe_unused]] void* volatile block = nullptr;
  do {
    block = std::malloc(50'000);
  } while (::mallinfo2().keepcost < 16 * kPage);
  // The free memory is at the end of the heap.
  const auto end = reinterpret_cast<std::uintptr_t>(::sbrk(0)) & ~(kPage - 1);
  const std::uintptr_t begin = (end - ::mallinfo2().keepcost + kPage) & ~(kPage - 1);
  ::mprotect(reinterpret_cast<void*>(begin), end - begin, PROT_NONE);
  for (;;) block = std::malloc(60'000);
}

}  // namespace

TEST_CASE("a listener answers with all stacks while the body hangs, or spins") {
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

TEST_CASE("a listener answers while the body hangs within malloc") {
  testing::skip_case_if(DISTRUN_SANITIZED, "a sanitizer has another malloc");
  const auto stacks = stacks_while(hang_in_malloc);
  REQUIRE(stacks);
  REQUIRE(stacks->threads.size() == 2);
  const testing::Symbols symbols;
  CHECK(symbols.has_function(stacks->threads[1], "hang_here"));
  CHECK(symbols.has_function(stacks->threads[1], "hang_in_malloc"));
  CHECK(stacks->threads[1].pcs.size() > 6);  // those of the handler, malloc, and its caller
}

TEST_CASE("a body that blocks all signals is reported, and the other threads still answer") {
  const auto stacks = stacks_while([] {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
    hang_here();
  });
  REQUIRE(stacks);
  REQUIRE(stacks->threads.size() == 2);
  CHECK(stacks->threads[1].why_none == "it blocks the signal for stacks");
}
