#include <catch2/catch.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/runner/proc/child.hpp>
#include <distrun/runner/proc/pidfd.hpp>
#include <distrun/runner/proc/process_tree.hpp>

#include "../support/forked.hpp"

using namespace distrun;
using namespace distrun::proc;

namespace {

// Both ways to start a program give the same guarantees.
struct Starter {
  const char* name;
  Child (*start)(const ChildSpec&);
};

Child helper(const ChildSpec& spec) {
  boost::asio::io_context context(1);
  return start_helper(context, spec);
}

const Starter kStarters[] = {{"start_helper", helper}, {"start_rank", start_rank}};

// Returns the program's output until its end, line by line.
std::vector<std::string> lines_of(base::FdPair& out, const Child& child) {
  out.second.reset();
  std::string text;
  char buffer[4096];
  for (ssize_t got = 0; (got = ::read(out.first.get(), buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(got));
  }
  testing::wait_for(child.pid);
  return base::split_lines(text);
}

std::vector<std::string> with_prefix(const std::vector<std::string>& lines, const std::string& prefix) {
  std::vector<std::string> found;
  for (const std::string& line : lines) {
    if (line.starts_with(prefix)) found.push_back(line.substr(prefix.size()));
  }
  return found;
}

std::string inode_of(int fd) {
  struct stat status {};
  ::fstat(fd, &status);
  return std::to_string(status.st_ino);
}

std::ptrdiff_t open_descriptors() {
  const std::filesystem::directory_iterator files("/proc/self/fd");
  return std::distance(begin(files), end(files));
}

}  // namespace

TEST_CASE("a program has exactly the descriptors that it was given") {
  const Starter starter = GENERATE(from_range(std::begin(kStarters), std::end(kStarters)));
  INFO(starter.name);
  base::FdPair out = base::make_pipe();
  const base::FdPair line = base::make_socket_pair(SOCK_STREAM);
  const base::Fd inheritable(::open("/dev/zero", O_RDONLY));  // without O_CLOEXEC, like libraries may do
  ChildSpec spec;
  spec.program = DISTRUN_SHOW_SELF;
  spec.descriptors = {{out.second.get(), 1}, {line.second.get(), 3}};
  const std::vector<std::string> lines = lines_of(out, starter.start(spec));
  const std::vector<std::string> fds = with_prefix(lines, "fd ");
  REQUIRE(fds.size() == 4);
  CHECK(fds[0].starts_with("0 /dev/null "));
  CHECK(fds[1] == "1 - " + inode_of(out.first.get()));
  CHECK(fds[2].starts_with("2 /dev/null "));
  CHECK(fds[3] == "3 - " + inode_of(line.second.get()));
}

TEST_CASE("a descriptor 3 that was not passed to the program is closed") {
  const Starter starter = GENERATE(from_range(std::begin(kStarters), std::end(kStarters)));
  INFO(starter.name);
  const testing::ForkedEnd end = testing::in_child([&] {
    const base::FdPair low = base::make_pipe();
    base::FdPair out{base::Fd(::fcntl(low.first.get(), F_DUPFD_CLOEXEC, 20)),
                     base::Fd(::fcntl(low.second.get(), F_DUPFD_CLOEXEC, 20))};
    const base::Fd inheritable(::open("/dev/zero", O_RDONLY));
    ::dup2(inheritable.get(), 3);
    ::close(low.second.get());
    ChildSpec spec;
    spec.program = DISTRUN_SHOW_SELF;
    spec.descriptors = {{out.second.get(), 1}};
    const Child child = starter.start(spec);
    return with_prefix(lines_of(out, child), "fd ").size() == 3 ? 0 : 1;
  });
  CHECK(end == testing::ForkedEnd{0, 0});
}

TEST_CASE("descriptors with crossing numbers arrive at the right numbers") {
  const Starter starter = GENERATE(from_range(std::begin(kStarters), std::end(kStarters)));
  INFO(starter.name);
  const testing::ForkedEnd end = testing::in_child([&] {
    // The descriptor for 1 is 3 and vice versa; standard input is given.
    base::FdPair out = base::make_pipe();
    const base::FdPair line = base::make_socket_pair(SOCK_STREAM);
    const std::string line_inode = inode_of(line.second.get());
    const std::string out_inode = inode_of(out.second.get());
    const int reading = ::fcntl(out.first.get(), F_DUPFD_CLOEXEC, 20);
    const int writing = ::fcntl(out.second.get(), F_DUPFD_CLOEXEC, 20);
    const int other = ::fcntl(line.second.get(), F_DUPFD_CLOEXEC, 20);
    ::dup2(writing, 3);
    ::dup2(other, 1);
    ChildSpec spec;
    spec.program = DISTRUN_SHOW_SELF;
    spec.descriptors = {{3, 1}, {1, 3}, {1, 0}};
    const Child child = starter.start(spec);
    ::close(3);
    ::close(writing);
    base::FdPair heard{base::Fd(reading), base::Fd()};
    out.second.reset();
    const std::vector<std::string> fds = with_prefix(lines_of(heard, child), "fd ");
    const bool right = fds.size() == 4 && fds[0].ends_with(" " + line_inode) && fds[1] == "1 - " + out_inode &&
                       fds[3] == "3 - " + line_inode;
    return right ? 0 : 1;
  });
  CHECK(end == testing::ForkedEnd{0, 0});
}

TEST_CASE("a program starts with no signal blocked or ignored and leads its group") {
  const Starter starter = GENERATE(from_range(std::begin(kStarters), std::end(kStarters)));
  INFO(starter.name);
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) sigaddset(&blocked, signal);
  ::sigprocmask(SIG_BLOCK, &blocked, &before);
  for (const int signal : {SIGPIPE, SIGHUP, SIGUSR2}) ::signal(signal, SIG_IGN);
  base::FdPair out = base::make_pipe();
  ChildSpec spec;
  spec.program = DISTRUN_SHOW_SELF;
  spec.descriptors = {{out.second.get(), 1}};
  const std::vector<std::string> lines = lines_of(out, starter.start(spec));
  for (const int signal : {SIGPIPE, SIGHUP, SIGUSR2}) ::signal(signal, SIG_DFL);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  CHECK(with_prefix(lines, "blocked ").empty());
  CHECK(with_prefix(lines, "ignored ").empty());
  CHECK(with_prefix(lines, "leads ") == std::vector<std::string>{"1"});
}

TEST_CASE("a program gets its arguments and its environment unchanged, and nothing else") {
  const Starter starter = GENERATE(from_range(std::begin(kStarters), std::end(kStarters)));
  INFO(starter.name);
  base::FdPair out = base::make_pipe();
  ChildSpec spec;
  spec.program = DISTRUN_SHOW_SELF;
  spec.arguments = {"--zygote", "a b", "", "'\"$HOME"};
  spec.environment = {"KEY=a b", "EMPTY="};
  spec.descriptors = {{out.second.get(), 1}};
  const std::vector<std::string> lines = lines_of(out, starter.start(spec));
  CHECK(with_prefix(lines, "argument ") == spec.arguments);
  CHECK(with_prefix(lines, "environment ") == spec.environment);
}

TEST_CASE("a program's end is reported by its descriptor, and its exit code can be reaped") {
  const Starter starter = GENERATE(from_range(std::begin(kStarters), std::end(kStarters)));
  INFO(starter.name);
  base::FdPair out = base::make_pipe();
  ChildSpec spec;
  spec.program = DISTRUN_SHOW_SELF;
  spec.descriptors = {{out.second.get(), 1}};
  const Child child = starter.start(spec);
  pollfd wanted{child.pidfd.get(), POLLIN, 0};
  REQUIRE(::poll(&wanted, 1, 30'000) == 1);
  const auto status = try_reap(child.pid);
  REQUIRE(status);
  CHECK(status->code() == 7);
}

TEST_CASE("a program that cannot be started is an error that names it, and leaves nothing behind") {
  const Starter starter = GENERATE(from_range(std::begin(kStarters), std::end(kStarters)));
  INFO(starter.name);
  const auto [program, reason] =
      GENERATE(std::make_pair("/no/such/program", "No such file"), std::make_pair("/etc/passwd", "Permission denied"));
  const std::ptrdiff_t before = open_descriptors();
  ChildSpec spec;
  spec.program = program;
  std::string text;
  ErrorKind kind = ErrorKind::Unimplemented;
  try {
    starter.start(spec);
  } catch (const Error& error) {
    text = error.what();
    kind = error.kind();
  }
  CHECK(kind == ErrorKind::Failed);
  CHECK_THAT(text, Catch::Contains(std::string("cannot start ") + program));
  CHECK_THAT(text, Catch::Contains(reason));
  CHECK(own_children().empty());
  CHECK(open_descriptors() == before);
}

TEST_CASE("ranks do not inherit settings of their tests") {
  for (const char* name : {"RANK", "LOCAL_RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "BACKEND", "INIT_METHOD",
                           "TEMP_DIR", "DISTRUN_RUN_ID", "RANKED", "MY_RANK"}) {
    ::setenv(name, "x", 1);
  }
  const std::vector<std::string> environment = inherited_environment();
  const auto has = [&](const std::string& entry) {
    return std::find(environment.begin(), environment.end(), entry) != environment.end();
  };
  CHECK(has("RANKED=x"));
  CHECK(has("MY_RANK=x"));
  for (const char* name : {"RANK", "LOCAL_RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "BACKEND", "INIT_METHOD",
                           "TEMP_DIR", "DISTRUN_RUN_ID"}) {
    CHECK_FALSE(has(std::string(name) + "=x"));
  }
}

TEST_CASE("a helper has the requested name, umask and session") {
  base::FdPair out = base::make_pipe();
  ChildSpec spec;
  spec.program = "/bin/sh";
  spec.name = "another-name";
  const std::string session_and_terminal = "cut -d' ' -f6 /proc/$$/stat; cut -d' ' -f7 /proc/$$/stat";
  spec.arguments = {"-c", "head -c 12 /proc/$$/cmdline; echo; umask; " + session_and_terminal};
  spec.environment = {"PATH=/usr/bin:/bin"};
  spec.descriptors = {{out.second.get(), 1}};
  spec.file_mask = 0137;
  spec.own_session = true;
  const Child child = helper(spec);
  CHECK(lines_of(out, child) == std::vector<std::string>{"another-name", "0137", std::to_string(child.pid), "0"});
}

TEST_CASE("a helper in a separate session is asked to exit when its parent has exited") {
  base::FdPair line = base::make_pipe();
  const testing::ForkedEnd end = testing::in_child([&] {
    ChildSpec spec;
    spec.program = "/bin/sleep";
    spec.arguments = {"100"};
    spec.own_session = true;
    const Child child = helper(spec);
    return ::write(line.second.get(), &child.pid, sizeof child.pid) == sizeof child.pid ? 0 : 1;
  });
  REQUIRE(end == testing::ForkedEnd{0, 0});
  pid_t pid = 0;
  REQUIRE(::read(line.first.get(), &pid, sizeof pid) == sizeof pid);
  const auto is_gone = [&] { return ::kill(pid, 0) != 0 || is_zombie(pid); };
  for (int i = 0; i < 10'000 && !is_gone(); ++i) ::poll(nullptr, 0, 1);
  CHECK(is_gone());
}
