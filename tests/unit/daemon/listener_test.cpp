#include <catch2/catch.hpp>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>

#include <distrun/common/base/error.hpp>
#include <distrun/common/io/ask.hpp>
#include <distrun/runner/daemon/instance_lock.hpp>
#include <distrun/runner/daemon/listener.hpp>

#include "../support/forked.hpp"
#include "support/scratch.hpp"

using namespace distrun;
using namespace distrun::testing;
using daemon::InstanceLock;
using daemon::Listener;

namespace {

bool can_connect(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  try {
    return static_cast<bool>(io::connect_to(&address, sizeof address, "it"));
  } catch (const Error&) {
    return false;
  }
}

// Another process that has the lock of `socket` until it is killed.
class Holder {
 public:
  explicit Holder(const std::string& socket) {
    base::FdPair ready = base::make_pipe();
    pid_ = fork_child([&]() -> int {
      const InstanceLock lock(socket);
      const Listener listener(socket);
      (void)::write(ready.second.get(), "x", 1);
      for (;;) ::pause();
    });
    char byte = 0;
    REQUIRE(::read(ready.first.get(), &byte, 1) == 1);
  }
  ~Holder() { kill(); }
  void kill() {
    if (pid_ == 0) return;
    ::kill(pid_, SIGKILL);
    wait_for(std::exchange(pid_, 0));
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = 0;
};

}  // namespace

TEST_CASE("a second daemon for the same socket gets the pid of the first") {
  const Scratch scratch;
  const std::string socket = scratch.path() + "/d.sock";
  const Holder holder(socket);
  CHECK_THROWS_WITH(InstanceLock(socket), Catch::Contains("(pid " + std::to_string(holder.pid()) + ")"));
  CHECK(can_connect(socket));
}

TEST_CASE("the socket of a killed daemon is replaced at once") {
  const Scratch scratch;
  const std::string socket = scratch.path() + "/d.sock";
  Holder holder(socket);
  holder.kill();
  REQUIRE(exists(socket));
  REQUIRE_FALSE(can_connect(socket));
  {
    const InstanceLock lock(socket);
    const Listener listener(socket);
    CHECK(can_connect(socket));
  }
  CHECK(names_in(scratch.path()).empty());
}

TEST_CASE("a child of the daemon does not keep its lock") {
  const Scratch scratch;
  const std::string socket = scratch.path() + "/d.sock";
  pid_t child = 0;
  base::FdPair ready = base::make_pipe();
  const pid_t parent = fork_child([&] {
    const InstanceLock lock(socket);
    child = ::fork();  // as between fork and exec
    if (child > 0 && ::write(ready.second.get(), &child, sizeof child) < 0) return 1;
    for (;;) ::pause();
  });
  REQUIRE(::read(ready.first.get(), &child, sizeof child) == sizeof child);
  ::kill(parent, SIGKILL);
  wait_for(parent);
  CHECK_NOTHROW(InstanceLock(socket));
  ::kill(child, SIGKILL);
}

TEST_CASE("a socket at which another program listens is not replaced") {
  const Scratch scratch;
  const std::string path = scratch.path() + "/d.sock";
  const Listener systemd(path);
  CHECK_THROWS_WITH(Listener(path), Catch::Contains("another program listens"));
  CHECK(can_connect(path));
}

TEST_CASE("a file that is not a socket is not removed") {
  const Scratch scratch;
  const std::string path = scratch.path() + "/precious";
  write_file(path, "precious");
  CHECK_THROWS_WITH(Listener(path), Catch::Contains("is not a socket"));
  CHECK(read_file(path) == "precious");
}

TEST_CASE("only the user has access to the socket") {
  const Scratch scratch;
  const std::string path = scratch.path() + "/d.sock";
  const Listener listener(path);
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
}

TEST_CASE("a socket that systemd passes is used, and stays") {
  const Scratch scratch;
  const std::string path = scratch.path() + "/d.sock";
  const ForkedEnd end = in_child([&] {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    const int handed = ::socket(AF_UNIX, SOCK_STREAM, 0);
    if (::bind(handed, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return 1;
    if (::listen(handed, 1) != 0 || (handed != 3 && ::dup2(handed, 3) != 3)) return 2;
    ::setenv("LISTEN_FDS", "1", 1);
    ::setenv("LISTEN_PID", std::to_string(::getpid()).c_str(), 1);
    if (!daemon::is_activated()) return 3;
    Listener listener("/not/used");
    const base::Fd taken = listener.take_socket();
    if (taken.get() != 3 || (::fcntl(3, F_GETFD) & FD_CLOEXEC) == 0) return 4;
    return can_connect(path) ? 0 : 5;
  });
  CHECK(end == ForkedEnd{0, 0});
  CHECK(exists(path));
}

TEST_CASE("a passed descriptor must be a listening socket") {
  const ForkedEnd end = in_child([] {
    if (::dup2(STDERR_FILENO, 3) != 3) return 1;
    ::setenv("LISTEN_FDS", "1", 1);
    ::setenv("LISTEN_PID", std::to_string(::getpid()).c_str(), 1);
    try {
      const Listener listener("/not/used");
    } catch (const Error&) {
      return 0;
    }
    return 2;
  });
  CHECK(end == ForkedEnd{0, 0});
}

TEST_CASE("variables that were meant for another process pass nothing") {
  ::setenv("LISTEN_FDS", "1", 1);
  ::setenv("LISTEN_PID", "1", 1);
  CHECK_FALSE(daemon::is_activated());
}
