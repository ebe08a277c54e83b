#include <catch2/catch.hpp>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <optional>

#include <distrun/common/io/fd_watch.hpp>

#include "../support/loop.hpp"

using namespace distrun;
using namespace distrun::testing;
using io::FdWatch;
using io::Loop;

namespace {

void write_byte(const base::Fd& fd) { REQUIRE(::write(fd.get(), "x", 1) == 1); }
void read_byte(int fd) {
  char byte = 0;
  (void)!::read(fd, &byte, 1);
}
bool is_open(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

}  // namespace

TEST_CASE("a watch calls as long as there is data to read") {
  Loop loop;
  base::FdPair pipe = base::make_pipe();
  int calls = 0;
  std::optional<FdWatch> watch;
  watch.emplace(loop, std::move(pipe.first), [&] {
    if (++calls % 2 == 0) read_byte(watch->fd());  // the first of two calls does not read it
  });
  run_ready(loop);
  CHECK(calls == 0);
  write_byte(pipe.second);
  write_byte(pipe.second);
  CHECK(run_until(loop, [&] { return calls == 4; }));
  run_ready(loop);
  CHECK(calls == 4);
}

TEST_CASE("a paused watch is silent, also at a hang-up, and calls when it is resumed") {
  Loop loop;
  base::FdPair pipe = base::make_pipe();
  const bool in_handler = GENERATE(true, false);
  int calls = 0;
  std::optional<FdWatch> watch;
  watch.emplace(loop, std::move(pipe.first), [&] {
    ++calls;
    if (in_handler) watch->pause();
  });
  if (in_handler) {
    write_byte(pipe.second);
    CHECK(run_until(loop, [&] { return calls == 1; }));
  } else {
    watch->pause();
    write_byte(pipe.second);
  }
  pipe.second.reset();
  run_ready(loop);
  CHECK(calls == (in_handler ? 1 : 0));
  const int before = calls;
  watch->resume();
  watch->resume();
  CHECK(run_until(loop, [&] { return calls > before; }));
}

TEST_CASE("a hang-up counts as readable") {
  Loop loop;
  base::FdPair pipe = base::make_pipe();
  std::unique_ptr<FdWatch> watch;
  bool ended = false;
  watch = std::make_unique<FdWatch>(loop, std::move(pipe.first), [&] {
    ended = true;
    watch.reset();
  });
  pipe.second.reset();
  CHECK(run_until(loop, [&] { return ended; }));
}

TEST_CASE("a watch may be destroyed in its own handler") {
  Loop loop;
  base::FdPair pipe = base::make_pipe();
  const int number = pipe.first.get();
  auto kept = std::make_shared<int>(7);
  int seen = 0;
  std::unique_ptr<FdWatch> watch;
  watch = std::make_unique<FdWatch>(loop, std::move(pipe.first), [&, kept] {
    watch.reset();
    seen = *kept;
  });
  write_byte(pipe.second);
  CHECK(run_until(loop, [&] { return seen == 7; }));
  run_ready(loop);
  CHECK_FALSE(is_open(number));
  CHECK(kept.use_count() == 1);
}

TEST_CASE("a watch that is destroyed while its call is queued stays silent") {
  Loop loop;
  base::FdPair pipes[2] = {base::make_pipe(), base::make_pipe()};
  std::unique_ptr<FdWatch> watches[2];
  int calls = 0;
  for (int i = 0; i < 2; ++i) {
    watches[i] = std::make_unique<FdWatch>(loop, std::move(pipes[i].first), [&] {
      ++calls;
      for (auto& watch : watches) watch.reset();
    });
  }
  for (const base::FdPair& pipe : pipes) write_byte(pipe.second);
  CHECK(run_until(loop, [&] { return calls > 0; }));
  run_ready(loop);
  CHECK(calls == 1);
}

TEST_CASE("a watch closes its descriptor") {
  Loop loop;
  base::FdPair pipe = base::make_pipe();
  const int number = pipe.first.get();
  {
    const FdWatch watch(loop, std::move(pipe.first), [] {});
    CHECK(watch.fd() == number);
  }
  CHECK_FALSE(is_open(number));
}

TEST_CASE("a watch reports once that writing would not block") {
  Loop loop;
  base::FdPair sockets = base::make_socket_pair(SOCK_STREAM);
  base::set_nonblocking(sockets.first.get());
  const std::string block(4096, 'x');
  while (::send(sockets.first.get(), block.data(), block.size(), MSG_DONTWAIT) > 0) {
  }
  int calls = 0;
  FdWatch watch(loop, std::move(sockets.first), [] {});
  watch.when_writable([&] { ++calls; });
  run_ready(loop);
  CHECK(calls == 0);
  std::string sink(1 << 20, ' ');
  while (::recv(sockets.second.get(), sink.data(), sink.size(), MSG_DONTWAIT) > 0) {
  }
  CHECK(run_until(loop, [&] { return calls == 1; }));
  run_ready(loop);
  CHECK(calls == 1);
}

TEST_CASE("a watch that is destroyed cancels its wait for writing") {
  Loop loop;
  base::FdPair sockets = base::make_socket_pair(SOCK_STREAM);
  bool called = false;
  {
    FdWatch watch(loop, std::move(sockets.first), [] {});
    watch.when_writable([&] { called = true; });
  }
  run_ready(loop);
  CHECK_FALSE(called);
}
