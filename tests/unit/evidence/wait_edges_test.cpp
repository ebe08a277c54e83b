#include <catch2/catch.hpp>

#include <poll.h>
#include <sys/wait.h>

#include <distrun/runner/evidence/waits/wait_edges.hpp>

#include "../support/thread_sanitizer.hpp"
#include "cast.hpp"
#include "support/skip.hpp"

using namespace distrun;
using namespace distrun::evidence;
using testing::Actor;
using testing::gets_to;
using testing::with_fd;

namespace {

WaitEdge edge(pid_t pid, std::vector<pid_t> any_of) {
  WaitEdge made;
  made.pid = pid;
  made.tid = pid;
  made.any_of = std::move(any_of);
  made.alone = true;
  return made;
}

using Cycles = std::vector<std::vector<std::size_t>>;

std::vector<WaitEdge> edges_of(std::vector<pid_t> pids) {
  const Connections all = find_connections(std::move(pids));
  return wait_edges(all, blocked_threads(all));
}

}  // namespace

TEST_CASE("a cycle begins with its lowest process") {
  CHECK(wait_cycles({edge(3, {1}), edge(1, {2}), edge(2, {3})}) == Cycles{{1, 2, 0}});
  CHECK(wait_cycles({edge(5, {6}), edge(6, {5}), edge(7, {8}), edge(8, {7})}) == Cycles{{0, 1}, {2, 3}});
}

TEST_CASE("a chain, a choice and an open wait form no cycle") {
  CHECK(wait_cycles({}).empty());
  CHECK(wait_cycles({edge(1, {2}), edge(2, {3})}).empty());
  CHECK(wait_cycles({edge(1, {2, 3}), edge(2, {1})}).empty());
  WaitEdge open = edge(2, {1});
  open.open = true;
  CHECK(wait_cycles({edge(1, {2}), open}).empty());
}

TEST_CASE("a process with many threads that wait for the same process is in a cycle once") {
  CHECK(wait_cycles({edge(1, {2}), edge(1, {2}), edge(1, {2}), edge(2, {1})}).size() == 1);
}

TEST_CASE("processes that wait for one of several of each other are stuck") {
  CHECK(wait_knot({edge(1, {2, 3}), edge(2, {1}), edge(3, {1})}) == std::vector<pid_t>{1, 2, 3});
  CHECK(wait_knot({edge(1, {2, 3}), edge(2, {1})}).empty());  // 3 may wake 1
  CHECK(wait_knot({edge(1, {2, 3}), edge(2, {1}), edge(3, {4})}).empty());
  WaitEdge busy = edge(3, {1});
  busy.alone = false;
  CHECK(wait_knot({edge(1, {2, 3}), edge(2, {1}), busy}).empty());
}

TEST_CASE("the root is the process that all wait for and that waits for none") {
  const auto roots = wait_roots({edge(1, {2}), edge(2, {3}), edge(4, {3}), edge(5, {6}), edge(6, {5})});
  REQUIRE(roots.size() == 1);
  CHECK(roots[0].pid == 3);
  CHECK(roots[0].waiting == std::vector<pid_t>{1, 2, 4});
}

TEST_CASE("a child that reads from its parent, which waits for the child to exit, is a cycle") {
  base::FdPair pipe = base::make_pipe();
  base::FdPair told = base::make_pipe();
  const int fd = pipe.first.get();
  const Actor parent({fd, pipe.second.get(), told.second.get()}, [&] {
    const pid_t child = testing::fork_child([&] {
      testing::keep_only({fd});
      testing::read_byte(fd);
      return 0;
    });
    (void)!::write(told.second.get(), &child, sizeof child);
    ::close(fd);
    ::waitpid(child, nullptr, 0);
  });
  pipe = {};
  pid_t child = 0;
  REQUIRE(::read(told.first.get(), &child, sizeof child) == sizeof child);
  REQUIRE(gets_to(parent.pid(), "wait4"));
  REQUIRE(gets_to(child, with_fd("read", fd)));
  const std::vector<WaitEdge> edges = edges_of({child, parent.pid()});
  REQUIRE(edges.size() == 2);
  CHECK(wait_cycles(edges).size() == 1);
  CHECK(edges[1].because.find(with_fd("read", fd) + " from pipe ") == 0);
  ::kill(child, SIGKILL);
}

TEST_CASE("a reader that holds the only writing end waits for itself") {
  testing::skip_case_if(testing::kThreadSanitizer, testing::kOwnThread);
  base::FdPair pipe = base::make_pipe();
  const int fd = pipe.first.get();
  const Actor reader({fd, pipe.second.get()}, [&] { testing::read_byte(fd); });
  pipe = {};
  REQUIRE(gets_to(reader.pid(), with_fd("read", fd)));
  const std::vector<WaitEdge> edges = edges_of({reader.pid()});
  REQUIRE(edges.size() == 1);
  CHECK(waits_for_itself(edges[0]));
  CHECK(edges[0].alone);
}

TEST_CASE("a reader that holds a writing end with others is reported, but waits for the others") {
  base::FdPair pipe = base::make_pipe();
  const int fd = pipe.first.get();
  const Actor reader({fd, pipe.second.get()}, [&] { testing::read_byte(fd); });
  const Actor writer({pipe.second.get()}, [] { testing::rest(); });
  pipe = {};
  REQUIRE(gets_to(writer.pid(), "rt_sigsuspend"));
  REQUIRE(gets_to(reader.pid(), with_fd("read", fd)));
  const std::vector<WaitEdge> edges = edges_of({reader.pid(), writer.pid()});
  REQUIRE(edges.size() == 1);
  CHECK(edges[0].any_of == std::vector<pid_t>{writer.pid()});
  CHECK(edges[0].holds_other_end);
  CHECK_FALSE(waits_for_itself(edges[0]));
}

TEST_CASE("an event loop that holds its wake-up pipe does not wait for itself") {
  base::FdPair pipe = base::make_pipe();
  const int fd = pipe.first.get();
  const Actor loop({fd, pipe.second.get()}, [&] {
    pollfd wanted{fd, POLLIN, 0};
    ::poll(&wanted, 1, -1);
  });
  pipe = {};
  REQUIRE(testing::eventually(testing::kLongWait, [&] { return testing::look_at(loop.pid()).polls; }));
  const std::vector<WaitEdge> edges = edges_of({loop.pid()});
  REQUIRE(edges.size() == 1);
  CHECK_FALSE(waits_for_itself(edges[0]));
  CHECK(edges[0].open);
}

TEST_CASE("a wait with a time limit is open") {
  base::FdPair pipe = base::make_pipe();
  const int fd = pipe.first.get();
  const Actor poller({fd}, [&] {
    pollfd wanted{fd, POLLIN, 0};
    ::poll(&wanted, 1, 100'000);
  });
  REQUIRE(testing::eventually(testing::kLongWait, [&] { return testing::look_at(poller.pid()).polls; }));
  const std::vector<WaitEdge> edges = edges_of({poller.pid()});
  REQUIRE(edges.size() == 1);
  CHECK(edges[0].open);
}
