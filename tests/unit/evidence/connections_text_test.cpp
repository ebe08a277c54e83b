#include <catch2/catch.hpp>

#include <sys/prctl.h>
#include <sys/wait.h>

#include <chrono>
#include <iostream>

#include <distrun/runner/evidence/waits/connections_text.hpp>

#include "cast.hpp"
#include "loopback.hpp"

using namespace distrun;
using namespace distrun::evidence;
using testing::Actor;
using testing::gets_to;
using testing::with_fd;

namespace {

std::vector<std::string> lines_of(std::vector<pid_t> pids, std::size_t limit = kConnectionLinesMax) {
  const Connections all = find_connections(std::move(pids));
  return connection_lines(all, blocked_threads(all), limit);
}

bool has(const std::vector<std::string>& lines, const std::string& text) {
  const bool found = std::any_of(lines.begin(), lines.end(),
                                 [&](const std::string& line) { return line.find(text) != std::string::npos; });
  if (!found) {
    for (const std::string& line : lines) UNSCOPED_INFO(line);
  }
  return found;
}

Party process(pid_t pid, const std::string& name, std::vector<Descriptor> descriptors) {
  return {pid, name, {pid, std::move(descriptors), false, ""}};
}

Descriptor pipe_end(int fd, std::uint64_t inode, bool reads) {
  Descriptor end;
  end.fd = fd;
  end.kind = DescriptorKind::Pipe;
  end.id.inode = inode;
  end.reads = reads;
  end.writes = !reads;
  return end;
}

Connection pipe_of(std::uint64_t inode, std::vector<End> readers, std::vector<End> writers) {
  Connection pipe;
  pipe.id.inode = inode;
  pipe.sides[0].ends = std::move(readers);
  pipe.sides[1].ends = std::move(writers);
  return pipe;
}

Blocked reading(pid_t pid, int fd, std::vector<pid_t> peers) {
  Blocked blocked;
  blocked.pid = pid;
  blocked.tid = pid;
  blocked.state = 'S';
  blocked.kind = BlockKind::Descriptors;
  blocked.call = with_fd("read", fd);
  blocked.fds = {{fd, true, false}};
  blocked.peers = std::move(peers);
  return blocked;
}

Blocked waiting_for_child(pid_t pid, pid_t child) {
  Blocked blocked;
  blocked.pid = pid;
  blocked.tid = pid;
  blocked.state = 'S';
  blocked.kind = BlockKind::Child;
  blocked.call = with_fd("wait4", child);
  blocked.pids = {child};
  blocked.peers = {child};
  return blocked;
}

Connections two_with_a_pipe(const std::string& name) {
  Connections all;
  all.processes = {process(4711, name, {pipe_end(5, 8812, true)}), process(4712, "worker", {pipe_end(4, 8812, false)})};
  all.list = {pipe_of(8812, {{4711, 5}}, {{4712, 4}})};
  return all;
}

}  // namespace

TEST_CASE("a cycle, its threads and its pipe are reported in this order") {
  const Connections all = two_with_a_pipe("server");
  const std::vector<Blocked> blocked{reading(4711, 5, {4712}), waiting_for_child(4712, 4711)};
  CHECK(connection_lines(all, blocked) ==
        std::vector<std::string>{
            "4711 (server) and 4712 (worker) wait for each other: 4711 in read(5) from pipe 8812, 4712 in wait4(4711)",
            "threads",
            "  4711 (server) main thread waits in read(5): pipe 8812, writing end held by 4712 (worker) fd 4",
            "  4712 (worker) main thread waits in wait4(4711) for 4711 (server) to end",
            "connections",
            "  pipe 8812: 4712 (worker) fd 4 -> 4711 (server) fd 5",
        });
  CHECK(describe(all, blocked[1]) == "4712 (worker) main thread waits in wait4(4711) for 4711 (server) to end");
}

TEST_CASE("control characters in names do not reach the terminal") {
  const Connections all = two_with_a_pipe("a\x1b[31mb\nc");
  for (const std::string& line : connection_lines(all, {reading(4711, 5, {4712})})) {
    CHECK(line.find('\x1b') == std::string::npos);
    CHECK(line.find('\n') == std::string::npos);
  }
}

TEST_CASE("the process that all others wait for is named first, with what it does") {
  base::FdPair pipe = base::make_pipe();
  const int fd = pipe.first.get();
  const Actor reader({fd}, [&] { testing::read_byte(fd); });
  const Actor writer({pipe.second.get()}, [] {
    ::prctl(PR_SET_NAME, "culprit");
    testing::rest();
  });
  pipe = {};
  REQUIRE(gets_to(writer.pid(), "rt_sigsuspend"));
  REQUIRE(gets_to(reader.pid(), with_fd("read", fd)));
  const auto lines = lines_of({reader.pid(), writer.pid()});
  REQUIRE_FALSE(lines.empty());
  const std::string who = std::to_string(writer.pid()) + " (culprit)";
  CHECK(lines[0].find(" waits for " + who + "; its main thread waits in rt_sigsuspend") != std::string::npos);
  CHECK(has(lines, "writing end held by " + std::to_string(writer.pid()) + " (culprit) fd "));
}

TEST_CASE("a reader that holds the only writing end is reported as waiting for itself") {
  base::FdPair pipe = base::make_pipe();
  const int fd = pipe.first.get();
  const int out = pipe.second.get();
  const Actor reader({fd, out}, [&] { testing::read_byte(fd); });
  pipe = {};
  REQUIRE(gets_to(reader.pid(), with_fd("read", fd)));
  const auto lines = lines_of({reader.pid()});
  CHECK(has(lines, "waits for itself in " + with_fd("read", fd)));
  CHECK(has(lines, "held only by itself (fd " + std::to_string(out) + "): neither data nor end of file can come"));
}

TEST_CASE("unread bytes and closed ends are reported") {
  base::FdPair pair = base::make_socket_pair(SOCK_STREAM);
  base::FdPair half = base::make_socket_pair(SOCK_STREAM);
  REQUIRE(::write(pair.first.get(), "hello, world", 12) == 12);
  const Actor one({pair.first.get(), half.first.get()}, [] { testing::rest(); });
  const Actor other({pair.second.get()}, [] { testing::rest(); });
  pair = {};
  half = {};
  REQUIRE(gets_to(one.pid(), "rt_sigsuspend"));
  REQUIRE(gets_to(other.pid(), "rt_sigsuspend"));
  const auto lines = lines_of({one.pid(), other.pid()});
  CHECK(has(lines, "; 12 bytes are unread by " + std::to_string(other.pid())));
  CHECK(has(lines, " <-> (closed): "));
}

TEST_CASE("an accepting process shows where, and a sleeping one for how long") {
  const testing::Loopback loopback;
  const Actor acceptor({loopback.listener.get()}, [&] {
    for (;;) ::accept(loopback.listener.get(), nullptr, nullptr);
  });
  const Actor sleeper({}, [] {
    const timespec length{100, 0};
    ::clock_nanosleep(CLOCK_MONOTONIC, 0, &length, nullptr);
  });
  REQUIRE(gets_to(acceptor.pid(), "accept"));
  REQUIRE(gets_to(sleeper.pid(), "clock_nanosleep"));
  const auto lines = lines_of({acceptor.pid(), sleeper.pid()});
  const std::string accept = with_fd("accept", loopback.listener.get());
  CHECK(has(lines, " waits in " + accept + ": connections to tcp socket 127.0.0.1:"));
  CHECK(has(lines, " sleeps in clock_nanosleep for 100 s"));
}

TEST_CASE("missing permissions are reported once") {
  const Connections all = two_with_a_pipe("server");
  Blocked hidden;
  hidden.pid = hidden.tid = 4711;
  hidden.hidden = true;
  hidden.why_unknown = "Permission denied (EACCES)";
  const auto lines = connection_lines(all, {hidden, waiting_for_child(4712, 4711)});
  CHECK(has(lines, "4711 (server) main thread is in an unknown state: Permission denied (EACCES)"));
  CHECK(lines.back().find("to see hidden data, run as root") == 0);
}

TEST_CASE("the number of lines is limited, and the rest is counted") {
  Connections all;
  std::vector<Descriptor> reads;
  std::vector<Descriptor> writes;
  for (int i = 0; i < 500; ++i) {
    const auto inode = static_cast<std::uint64_t>(1000 + i);
    reads.push_back(pipe_end(10 + i, inode, true));
    writes.push_back(pipe_end(10 + i, inode, false));
    all.list.push_back(pipe_of(inode, {{1, 10 + i}}, {{2, 10 + i}}));
  }
  all.processes = {process(1, "one", reads), process(2, "two", writes)};
  const auto lines = connection_lines(all, {reading(1, 10, {2})}, 50);
  CHECK(lines.size() <= 52);
  CHECK(has(lines, "more connections"));
  CHECK(has(lines, "pipe 1000: 2 (two) fd 10 -> 1 (one) fd 10"));
}

TEST_CASE("threads that wait in the same way share a line") {
  const Connections all = two_with_a_pipe("server");
  std::vector<Blocked> blocked;
  for (int i = 0; i < 8; ++i) {
    Blocked thread = reading(4711, 5, {4712});
    thread.tid = 4711 + i * 10;
    thread.name = "pool";
    blocked.push_back(thread);
  }
  CHECK(has(connection_lines(all, blocked), "4711 (server) each of 8 threads (pool) waits in read(5)"));
}

TEST_CASE("many processes with many descriptors are examined quickly", "[slow]") {
  constexpr int kProcesses = 64;
  std::vector<base::FdPair> pipes;
  for (int i = 0; i < 25; ++i) pipes.push_back(base::make_pipe());
  std::vector<pid_t> pids;
  for (int i = 0; i < kProcesses; ++i) {
    pids.push_back(testing::fork_child([&] {
      testing::read_byte(pipes[0].first.get());
      return 0;
    }));
  }
  for (const pid_t pid : pids) REQUIRE(gets_to(pid, "read"));
  const auto start = std::chrono::steady_clock::now();
  const Connections all = find_connections(pids);
  const auto found = std::chrono::steady_clock::now();
  const std::vector<Blocked> blocked = blocked_threads(all);
  const std::vector<std::string> lines = connection_lines(all, blocked);
  const auto end = std::chrono::steady_clock::now();
  using Ms = std::chrono::duration<double, std::milli>;
  std::cout << kProcesses << " processes, 50 pipe ends each: connections " << Ms(found - start).count()
            << " ms, threads and text " << Ms(end - found).count() << " ms\n";
  CHECK(lines.size() <= kConnectionLinesMax + 2);
  for (const pid_t pid : pids) {
    ::kill(pid, SIGKILL);
    testing::wait_for(pid);
  }
}
