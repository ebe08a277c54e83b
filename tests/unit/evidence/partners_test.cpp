// Waits for a partner that is not there yet: the other end of a named pipe, a server that accepts, a message, the child
// of a vfork.
#include <catch2/catch.hpp>

#include <mqueue.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cstring>

#include <distrun/runner/evidence/waits/observed_wait.hpp>

#include "cast.hpp"
#include "support/scratch.hpp"

using namespace distrun;
using namespace distrun::evidence;
using base::Fd;
using testing::Actor;
using testing::gets_to;
using testing::with_fd;
using wire::WaitObject;

namespace {

wire::ObservedWait observed(const Connections& all, pid_t pid) {
  const Blocked blocked = testing::look_at(pid, all);
  return observed_wait(all, Names(all, {blocked}), blocked);
}
wire::ObservedWait observed(pid_t pid) { return observed(find_connections({pid}), pid); }

sockaddr_un unix_address(const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, name.data(), std::min(name.size(), sizeof address.sun_path - 1));
  return address;
}

const sockaddr* generic(const sockaddr_un& address) { return reinterpret_cast<const sockaddr*>(&address); }

// Connects until the queue of the listener is full.
void connect_forever(const sockaddr_un& address) {
  while (::connect(::socket(AF_UNIX, SOCK_STREAM, 0), generic(address), sizeof address) == 0) {
  }
}

}  // namespace

TEST_CASE("opening a named pipe waits for its other end") {
  const testing::Scratch scratch;
  const std::string path = scratch.path() + "/fifo";
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  const Actor reader({}, [&] { ::open(path.c_str(), O_RDONLY); });
  REQUIRE(gets_to(reader.pid(), "open"));
  const wire::ObservedWait wait = observed(reader.pid());
  CHECK(wait.object == WaitObject::Pipe);
  CHECK(wait.name == "the other end of pipe " + path);
  CHECK(wait.enders.empty());
  CHECK_FALSE(wait.closed);
}

TEST_CASE("opening a named pipe by a relative path waits for its other end, too") {
  const testing::Scratch scratch;
  REQUIRE(::mkfifo((scratch.path() + "/fifo").c_str(), 0600) == 0);
  const Actor reader({}, [&] {
    if (::chdir(scratch.path().c_str()) == 0) ::open("fifo", O_RDONLY);
  });
  REQUIRE(gets_to(reader.pid(), "open"));
  CHECK(observed(reader.pid()).object == WaitObject::Pipe);
}

TEST_CASE("a connect to a full queue waits for the process that listens") {
  const testing::Scratch scratch;
  const bool is_abstract = GENERATE(false, true);
  const std::string path = scratch.path() + "/server.sock";
  const sockaddr_un address = unix_address(is_abstract ? '\0' + path : path);
  Fd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  REQUIRE(::bind(listener.get(), generic(address), sizeof address) == 0);
  REQUIRE(::listen(listener.get(), 0) == 0);
  const Actor server({listener.get()}, [] { testing::rest(); });
  const Actor client({}, [&] { connect_forever(address); });
  listener.reset();
  REQUIRE(gets_to(client.pid(), "connect"));
  const wire::ObservedWait wait = observed(find_connections({client.pid(), server.pid()}), client.pid());
  CHECK(wait.object == WaitObject::Listener);
  REQUIRE(wait.enders.size() == 1);
  CHECK(wait.enders.front().pid == server.pid());
  CHECK(wait.note == "it has not been accepted");
  CHECK(observed(client.pid()).note == "no process that was seen listens there");
}

TEST_CASE("a receive from an empty message queue names the queue") {
  const std::string name = "/distrun-test-" + std::to_string(::getpid());
  const mqd_t queue = ::mq_open(name.c_str(), O_CREAT | O_RDWR, 0600, nullptr);
  REQUIRE(queue >= 0);
  ::mq_unlink(name.c_str());
  const Actor receiver({queue}, [&] {
    std::vector<char> message(8192);
    ::mq_receive(queue, message.data(), message.size(), nullptr);
  });
  ::mq_close(queue);
  REQUIRE(gets_to(receiver.pid(), with_fd("mq_timedreceive", queue)));
  const wire::ObservedWait wait = observed(receiver.pid());
  CHECK(wait.object == WaitObject::Pipe);
  CHECK(wait.name.find("message queue ") == 0);
  CHECK(wait.limit.empty());
}

TEST_CASE("an eventfd is waited for as a semaphore is") {
  const Fd event(::eventfd(0, EFD_CLOEXEC));
  const Actor reader({event.get()}, [&] {
    eventfd_t value = 0;
    ::eventfd_read(event.get(), &value);
  });
  REQUIRE(gets_to(reader.pid(), with_fd("read", event.get())));
  CHECK(observed(reader.pid()).object == WaitObject::Semaphore);
}

TEST_CASE("a vfork waits for its child") {
  base::FdPair pipe = base::make_pipe();
  const int fd = pipe.first.get();
  const Actor parent({fd}, [&] {
    if (::vfork() == 0) {
      char byte = 0;
      (void)!::read(fd, &byte, 1);
      ::_exit(0);
    }
  });
  REQUIRE(testing::eventually(testing::kLongWait, [&] {
    const Blocked now = testing::look_at(parent.pid());
    return now.kind == BlockKind::Child && now.pids.size() == 1;
  }));
  CHECK(observed(parent.pid()).object == WaitObject::Child);
}
