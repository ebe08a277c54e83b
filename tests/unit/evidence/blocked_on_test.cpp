#include <catch2/catch.hpp>

#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <memory>
#include <thread>

#include <distrun/runner/proc/pidfd.hpp>

#include "../support/thread_sanitizer.hpp"
#include "cast.hpp"
#include "loopback.hpp"
#include "support/scratch.hpp"
#include "support/skip.hpp"

using namespace distrun;
using namespace distrun::evidence;
using base::Fd;
using testing::Actor;
using testing::gets_to;
using testing::look_at;
using testing::with_fd;

namespace {

// A page that children share with the test.
template <class Value>
Value* shared() {
  void* page = ::mmap(nullptr, sizeof(Value), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(page != MAP_FAILED);
  return static_cast<Value*>(page);
}

}  // namespace

TEST_CASE("a reader waits for the processes that hold the writing end") {
  base::FdPair pipe = base::make_pipe();
  const int fd = pipe.first.get();
  const Actor reader({fd}, [&] { testing::read_byte(fd); });
  const Actor writer({pipe.second.get()}, [] { testing::rest(); });
  pipe = {};
  REQUIRE(gets_to(reader.pid(), with_fd("read", fd)));
  REQUIRE(gets_to(writer.pid(), "rt_sigsuspend"));
  const Blocked blocked = look_at(reader.pid());
  CHECK(blocked.kind == BlockKind::Descriptors);
  CHECK(blocked.fds == std::vector<Watch>{{fd, true, false}});
  CHECK(blocked.peers == std::vector<pid_t>{writer.pid()});
  CHECK_FALSE(blocked.bounded);
  CHECK(look_at(writer.pid()).kind == BlockKind::Signal);
}

TEST_CASE("a writer into a full pipe waits for the processes that hold the reading end") {
  base::FdPair pipe = base::make_pipe();
  const int fd = pipe.second.get();
  const Actor writer({fd}, [&] { testing::write_forever(fd); });
  const Actor reader({pipe.first.get()}, [] { testing::rest(); });
  pipe = {};
  REQUIRE(gets_to(reader.pid(), "rt_sigsuspend"));
  REQUIRE(gets_to(writer.pid(), with_fd("write", fd)));
  const Blocked blocked = look_at(writer.pid());
  CHECK(blocked.fds == std::vector<Watch>{{fd, false, true}});
  CHECK(blocked.peers == std::vector<pid_t>{reader.pid()});
}

TEST_CASE("poll waits for the processes at the other end of each of its descriptors") {
  base::FdPair one = base::make_pipe();
  base::FdPair two = base::make_socket_pair(SOCK_STREAM);
  const int fds[] = {one.first.get(), two.first.get()};
  const Actor poller({fds[0], fds[1]}, [&] {
    pollfd wanted[] = {{fds[0], POLLIN, 0}, {-1, POLLIN, 0}, {fds[1], POLLIN, 0}};
    ::poll(wanted, 3, 60'000);
  });
  const Actor first({one.second.get()}, [] { testing::rest(); });
  const Actor second({two.second.get()}, [] { testing::rest(); });
  one = {};
  two = {};
  REQUIRE(gets_to(first.pid(), "rt_sigsuspend"));
  REQUIRE(gets_to(second.pid(), "rt_sigsuspend"));
  REQUIRE(testing::eventually(testing::kLongWait, [&] {
    return look_at(poller.pid()).call.find("poll of 2 descriptors") != std::string::npos;
  }));
  const Blocked blocked = look_at(poller.pid());
  CHECK(blocked.fds == std::vector<Watch>{{fds[0], true, false}, {fds[1], true, false}});
  CHECK(blocked.peers == std::vector<pid_t>{first.pid(), second.pid()});
  CHECK(blocked.bounded);
  CHECK(blocked.limit == "60 s");
}

TEST_CASE("select waits for the descriptors in its sets") {
  base::FdPair pipe = base::make_pipe();
  const int fd = pipe.first.get();
  const Actor selecter({fd, pipe.second.get()}, [&] {
    fd_set reads;
    FD_ZERO(&reads);
    FD_SET(fd, &reads);
    ::select(fd + 1, &reads, nullptr, nullptr, nullptr);
  });
  REQUIRE(testing::eventually(testing::kLongWait, [&] {
    return look_at(selecter.pid()).fds == std::vector<Watch>{{fd, true, false}};
  }));
  const Blocked blocked = look_at(selecter.pid());
  CHECK(blocked.call.find(std::to_string(fd)) != std::string::npos);
  CHECK(blocked.peers == std::vector<pid_t>{::getpid(), selecter.pid()});
  CHECK_FALSE(blocked.bounded);
}

TEST_CASE("epoll waits for the descriptors that it watches") {
  base::FdPair pipe = base::make_pipe();
  const Fd poll(::epoll_create1(EPOLL_CLOEXEC));
  epoll_event wanted{};
  wanted.events = EPOLLIN;
  REQUIRE(::epoll_ctl(poll.get(), EPOLL_CTL_ADD, pipe.first.get(), &wanted) == 0);
  const Actor poller({poll.get(), pipe.first.get()}, [&] {
    epoll_event event{};
    ::epoll_wait(poll.get(), &event, 1, -1);
  });
  pipe.first.reset();
  REQUIRE(gets_to(poller.pid(), "epoll_"));
  const Blocked blocked = look_at(poller.pid());
  CHECK(blocked.kind == BlockKind::Descriptors);
  CHECK(blocked.polls);
  CHECK(blocked.fds.size() == 1);
  CHECK(blocked.peers == std::vector<pid_t>{::getpid()});
  CHECK_FALSE(blocked.bounded);
}

TEST_CASE("a parent waits for its child, or for any, or for the one of a pidfd") {
  base::FdPair told = base::make_pipe();
  const int say = told.second.get();
  const auto fork_and = [&](auto wait) {
    return std::make_unique<Actor>(std::initializer_list<int>{say}, [say, wait] {
      const pid_t child = testing::fork_child([] {
        testing::rest();
        return 0;
      });
      (void)!::write(say, &child, sizeof child);
      wait(child);
    });
  };
  const auto check = [&](const auto& parent, const std::string& call) {
    pid_t child = 0;
    REQUIRE(::read(told.first.get(), &child, sizeof child) == sizeof child);
    CHECK(gets_to(parent->pid(), call));
    const Connections all = find_connections({parent->pid()});
    const Blocked blocked = look_at(parent->pid(), all);
    CHECK(blocked.kind == BlockKind::Child);
    CHECK(blocked.pids == std::vector<pid_t>{child});
    CHECK(blocked.peers == std::vector<pid_t>{child});
    CHECK(blocked.strangers.count(child) + all.others.count(child) == 1);  // named in either list
    ::kill(child, SIGKILL);
  };
  check(fork_and([](pid_t child) { ::waitpid(child, nullptr, 0); }), "wait4(");
  check(fork_and([](pid_t) { ::wait(nullptr); }), "wait4(-1)");
  check(fork_and([](pid_t) {
          siginfo_t info{};
          ::waitid(P_ALL, 0, &info, WEXITED);
        }),
        "waitid(any child)");
  check(fork_and([](pid_t child) {
          siginfo_t info{};
          const Fd pidfd = proc::open_pidfd(child);
          ::waitid(static_cast<idtype_t>(3), static_cast<id_t>(pidfd.get()), &info, WEXITED);
        }),
        "waitid(pidfd");
}

TEST_CASE("a process that waits for a file lock of any kind waits for its holder") {
  const testing::Scratch scratch;
  const std::string path = scratch.path() + "/lock";
  testing::write_file(path, "x");
  const auto take = [](int fd, int kind) {
    struct flock lock {};
    lock.l_type = F_WRLCK;
    if (kind == 0)
      ::flock(fd, LOCK_EX);
    else
      ::fcntl(fd, kind == 1 ? F_SETLKW : F_OFD_SETLKW, &lock);
  };
  for (const int kind : {0, 1, 2}) {
    const auto hold = [&] {
      const Fd file(::open(path.c_str(), O_RDWR));
      take(file.get(), kind);
      testing::rest();
    };
    const Actor holder({}, hold);
    REQUIRE(gets_to(holder.pid(), "rt_sigsuspend"));
    const Actor waiter({}, hold);
    REQUIRE(gets_to(waiter.pid(), kind == 0 ? "flock" : "fcntl"));
    const Blocked blocked = look_at(waiter.pid(), find_connections({holder.pid(), waiter.pid()}));
    CHECK(blocked.kind == BlockKind::FileLock);
    CHECK(blocked.lock == path);
    CHECK(blocked.peers == std::vector<pid_t>{holder.pid()});
  }
}

TEST_CASE("a flock is held by all processes that have inherited it") {
  const testing::Scratch scratch;
  const std::string path = scratch.path() + "/lock";
  const Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  REQUIRE(::flock(file.get(), LOCK_EX) == 0);
  const Actor heir({file.get()}, [] { testing::rest(); });
  const Actor waiter({}, [&] {
    const Fd own(::open(path.c_str(), O_RDWR));
    ::flock(own.get(), LOCK_EX);
  });
  REQUIRE(gets_to(heir.pid(), "rt_sigsuspend"));
  REQUIRE(gets_to(waiter.pid(), "flock"));
  CHECK(look_at(waiter.pid(), find_connections({heir.pid(), waiter.pid()})).peers == std::vector<pid_t>{heir.pid()});
  CHECK(look_at(waiter.pid()).peers == std::vector<pid_t>{::getpid()});  // the lock's owner according to the kernel
}

TEST_CASE("a process that sleeps shows for how long, and one that accepts shows where") {
  const Actor sleeper({}, [] {
    const timespec length{100, 0};
    ::clock_nanosleep(CLOCK_MONOTONIC, 0, &length, nullptr);
  });
  const testing::Loopback loopback;
  const Actor acceptor({loopback.listener.get()}, [&] {
    for (;;) ::accept(loopback.listener.get(), nullptr, nullptr);
  });
  REQUIRE(gets_to(sleeper.pid(), "clock_nanosleep"));
  const Blocked sleeping = look_at(sleeper.pid());
  CHECK(sleeping.kind == BlockKind::Sleep);
  CHECK(sleeping.limit == "100 s");
  REQUIRE(gets_to(acceptor.pid(), with_fd("accept", loopback.listener.get())));
  CHECK(look_at(acceptor.pid()).peers.empty());
}

TEST_CASE("a poll that was interrupted is still recognized") {
  base::FdPair pipe = base::make_pipe();
  const int fd = pipe.first.get();
  const Actor poller({fd}, [&] {
    pollfd wanted{fd, POLLIN, 0};
    ::poll(&wanted, 1, 100'000);
  });
  const auto polls = [&] {
    const Blocked now = look_at(poller.pid());
    return now.state == 'S' && now.fds == std::vector<Watch>{{fd, true, false}};
  };
  REQUIRE(testing::eventually(testing::kLongWait, polls));
  ::kill(poller.pid(), SIGSTOP);
  REQUIRE(testing::eventually(testing::kLongWait, [&] { return look_at(poller.pid()).state == 'T'; }));
  ::kill(poller.pid(), SIGCONT);
  CHECK(testing::eventually(testing::kLongWait, polls));
}

TEST_CASE("processes that wait at one address in shared memory wait for the same lock") {
  auto* word = shared<std::uint32_t>();
  const auto wait = [&] { ::syscall(SYS_futex, word, 0, 0, nullptr, nullptr, 0); };
  const Actor one({}, wait);
  const Actor other({}, wait);
  REQUIRE(gets_to(one.pid(), "futex"));
  REQUIRE(gets_to(other.pid(), "futex"));
  const Blocked blocked = look_at(one.pid());
  CHECK(blocked.kind == BlockKind::Futex);
  CHECK(blocked.lock_key == look_at(other.pid()).lock_key);
  CHECK(blocked.lock.find("shared memory") == 0);
  CHECK(blocked.peers.empty());
}

TEST_CASE("a process that waits for a shared mutex waits for its owner") {
  auto* mutex = shared<pthread_mutex_t>();
  pthread_mutexattr_t attributes;
  ::pthread_mutexattr_init(&attributes);
  ::pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  const int robust = GENERATE(int{PTHREAD_MUTEX_STALLED}, int{PTHREAD_MUTEX_ROBUST});
  ::pthread_mutexattr_setrobust(&attributes, robust);
  REQUIRE(::pthread_mutex_init(mutex, &attributes) == 0);
  const auto take = [&] {
    ::pthread_mutex_lock(mutex);
    testing::rest();
  };
  const Actor holder({}, take);
  REQUIRE(gets_to(holder.pid(), "rt_sigsuspend"));
  const Actor waiter({}, take);
  REQUIRE(gets_to(waiter.pid(), "futex"));
  CHECK(look_at(waiter.pid()).peers == std::vector<pid_t>{holder.pid()});
}

TEST_CASE("a thread that joins another waits for that thread") {
  testing::skip_case_if(testing::kThreadSanitizer, testing::kOwnThread);
  const Actor joiner({}, [] { std::thread([] { testing::rest(); }).join(); });
  REQUIRE(testing::eventually(testing::kLongWait, [&] { return look_at(joiner.pid()).kind == BlockKind::Thread; }));
  const std::vector<Blocked> threads = blocked_threads(find_connections({joiner.pid()}));
  REQUIRE(threads.size() == 2);
  CHECK(threads[0].lock.find("thread " + std::to_string(threads[1].tid)) == 0);
}

TEST_CASE("a process that stopped or exited is reported as such") {
  const Actor stopped({}, [] { ::raise(SIGSTOP); });
  const Actor ended({}, [] {});
  CHECK(testing::eventually(testing::kLongWait, [&] { return look_at(stopped.pid()).state == 'T'; }));
  CHECK(testing::eventually(testing::kLongWait, [&] { return look_at(ended.pid()).state == 'Z'; }));
  CHECK(look_at(ended.pid()).kind == BlockKind::None);
}

TEST_CASE("another user's thread has a reason instead of a call") {
  testing::skip_case_if(::geteuid() != 0, "only root can become another user");
  const Actor sleeper({}, [] { testing::rest(); });
  REQUIRE(gets_to(sleeper.pid(), "rt_sigsuspend"));
  const testing::ForkedEnd end = testing::in_child([&] {
    if (::setgid(65534) != 0 || ::setuid(65534) != 0) return 2;
    const Blocked blocked = look_at(sleeper.pid());
    return blocked.kind == BlockKind::Unknown && blocked.hidden ? 0 : 1;
  });
  CHECK(end.code == 0);
}
