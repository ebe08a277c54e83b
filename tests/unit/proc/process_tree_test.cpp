#include <catch2/catch.hpp>

#include <sched.h>
#include <sys/syscall.h>

#include <algorithm>
#include <vector>

#include <distrun/common/base/thread.hpp>
#include <distrun/runner/proc/pidfd.hpp>
#include <distrun/runner/proc/process_tree.hpp>

#include "offspring.hpp"

using namespace distrun;
using namespace distrun::proc;
using testing::fork_child;
using testing::Offspring;

namespace {

constexpr int kRounds = 5000;  // a millisecond each

bool contains(const std::vector<pid_t>& pids, pid_t pid) {
  return std::find(pids.begin(), pids.end(), pid) != pids.end();
}

pid_t paused_child() {
  return fork_child([] {
    ::pause();
    return 0;
  });
}

void end(pid_t child) {
  ::kill(child, SIGKILL);
  testing::wait_for(child);
}

int end_all() {
  const Endings endings = end_children([](pid_t) { return true; }, kRounds);
  CHECK(endings.left.empty());
  return endings.count;
}

// Waits until the child is a zombie.
void await_end(pid_t child) {
  pollfd wanted{open_pidfd(child).release(), POLLIN, 0};
  ::poll(&wanted, 1, 30'000);
  ::close(wanted.fd);
}

}  // namespace

TEST_CASE("the children of another process are found") {
  const pid_t parent = fork_child([] {
    const pid_t child = paused_child();
    ::pause();
    return child > 0 ? 0 : 1;
  });
  std::vector<pid_t> children;
  for (int i = 0; i < kRounds && children.empty(); ++i) {
    ::poll(nullptr, 0, 1);
    children = proc::children_of(parent);
  }
  REQUIRE(children.size() == 1);
  CHECK(contains(proc::children_of(::getpid()), parent));
  end(parent);
  ::kill(children.front(), SIGKILL);
  CHECK(proc::children_of(parent).empty());
}

TEST_CASE("own children are the children of all threads, zombies included") {
  CHECK(own_children().empty());
  const pid_t running = paused_child();
  const pid_t zombie = fork_child([] { return 0; });
  await_end(zombie);
  pid_t of_thread = 0;
  base::Thread("forker", [&] { of_thread = paused_child(); }).join();
  const std::vector<pid_t> children = own_children();
  CHECK(children.size() == 3);
  for (const pid_t pid : {running, zombie, of_thread}) CHECK(contains(children, pid));
  CHECK(is_zombie(zombie));
  CHECK_FALSE(is_zombie(running));
  testing::wait_for(zombie);
  end(running);
  end(of_thread);
  CHECK(own_children().empty());
  CHECK_FALSE(is_zombie(zombie));  // the process no longer exists
}

TEST_CASE("a process with much memory is seen ending before it has exited") {
  constexpr int kTries = 100;  // it may end between two checks
  bool seen = false;
  for (int i = 0; i < kTries && !seen; ++i) {
    const base::FdPair told = base::make_pipe();
    const pid_t big = fork_child([&] {
      (void)new std::vector<char>(std::size_t{256} << 20, 'x');
      (void)!::write(told.second.get(), "x", 1);
      ::pause();
      return 0;
    });
    char byte = 0;
    REQUIRE(::read(told.first.get(), &byte, 1) == 1);
    CHECK_FALSE(is_ending(big));
    ::kill(big, SIGKILL);
    while (!is_zombie(big)) seen = seen || (is_ending(big) && !is_zombie(big));
    await_end(big);  // with all its threads: a sanitizer may have some
    CHECK(is_ending(big));
    testing::wait_for(big);
    CHECK(is_ending(big));  // it is gone
  }
  CHECK(seen);
}

TEST_CASE("a process that was sent SIGKILL is ending, even before it has had a CPU") {
  cpu_set_t before{};
  REQUIRE(::sched_getaffinity(0, sizeof before, &before) == 0);
  cpu_set_t one{};
  CPU_SET(static_cast<unsigned>(::sched_getcpu()), &one);
  REQUIRE(::sched_setaffinity(0, sizeof one, &one) == 0);
  const base::FdPair told = base::make_pipe();
  const pid_t child = fork_child([&] {
    const sched_param none{};
    // The child gets only the CPU time that this process leaves.
    if (::sched_setscheduler(0, SCHED_IDLE, &none) != 0) return 1;
    (void)!::write(told.second.get(), "x", 1);
    ::pause();
    return 0;
  });
  char byte = 0;
  REQUIRE(::read(told.first.get(), &byte, 1) == 1);
  CHECK_FALSE(is_ending(child));
  ::kill(child, SIGKILL);
  CHECK(is_ending(child));
  testing::wait_for(child);
  REQUIRE(::sched_setaffinity(0, sizeof before, &before) == 0);
}

TEST_CASE("a process with an exited first thread is not ending") {
  const pid_t child = fork_child([] {
    base::Thread("stays", [] { ::pause(); }).leave_running();
    ::syscall(SYS_exit, 0);  // ends this thread only
    return 0;
  });
  while (!is_zombie(child)) ::poll(nullptr, 0, 1);
  CHECK_FALSE(is_ending(child));
  end(child);
}

TEST_CASE("a daemon in a separate session is adopted and ended") {
  become_subreaper();
  Offspring offspring;
  const pid_t daemon = offspring.start_daemon();
  REQUIRE(contains(own_children(), daemon));
  CHECK(end_all() == 1);
  CHECK(offspring.all_gone());
}

TEST_CASE("daemons of daemons are ended, generation by generation") {
  become_subreaper();
  Offspring offspring;
  const base::FdPair told = base::make_pipe();
  const pid_t child = fork_child([&] {
    for (int i = 0; i < 3; ++i) offspring.start_daemon();
    fork_child([&] {
      for (int i = 0; i < 3; ++i) offspring.start_daemon();
      (void)!::write(told.second.get(), "x", 1);
      ::pause();
      return 0;
    });
    ::pause();
    return 0;
  });
  char byte = 0;
  REQUIRE(::read(told.first.get(), &byte, 1) == 1);
  CHECK(contains(own_children(), child));
  CHECK(end_all() == 8);
  CHECK(own_children().empty());
  CHECK(offspring.all_gone());
}

TEST_CASE("a process that changes its pid all the time is still ended") {
  become_subreaper();
  Offspring offspring;
  REQUIRE(offspring.start_hopper() > 0);
  end_all();
  CHECK(offspring.all_gone());
}

TEST_CASE("processes that replace themselves by a child all the time are all ended in a few rounds") {
  become_subreaper();
  const int chains = GENERATE(1, 4);
  for (int round = 0; round < 20; ++round) {
    Offspring offspring;
    for (int i = 0; i < chains; ++i) REQUIRE(offspring.start_chain() > 0);
    CHECK(end_children([](pid_t) { return true; }, 5).count >= chains);
    const bool gone = offspring.all_gone();  // dying processes may need more CPU time
    end_all();
    REQUIRE(gone);
    CHECK(own_children().empty());
  }
}

TEST_CASE("only the given processes are ended") {
  const pid_t meant = paused_child();
  const pid_t other = paused_child();
  const std::string name = describe_process(meant);
  const Endings endings = end_children([&](pid_t pid) { return pid == meant; }, kRounds);
  CHECK(endings.count == 1);
  CHECK(endings.named == std::vector<std::string>{name});
  CHECK(endings.left.empty());
  CHECK(own_children() == std::vector<pid_t>{other});
  end(other);
}

TEST_CASE("a stopped process is ended like any other") {
  const pid_t child = paused_child();
  ::kill(child, SIGSTOP);
  CHECK(end_all() == 1);
}

TEST_CASE("a process without children ends nothing") { CHECK(end_all() == 0); }

TEST_CASE("a tag is inherited through fork, setsid, adoption and exec, and no other process has it") {
  become_subreaper();
  constexpr std::uint64_t kTag = 0x0080'0000'0000'0042ULL;
  Offspring offspring;
  const base::FdPair told = base::make_pipe();
  const pid_t tagged = fork_child([&] {
    set_tag(kTag);
    const pid_t daemon = offspring.start_daemon();
    const bool written = ::write(told.second.get(), &daemon, sizeof daemon) == sizeof daemon;
    ::execl("/bin/sleep", "sleep", "100", static_cast<char*>(nullptr));
    return written ? 1 : 2;
  });
  pid_t daemon = 0;
  REQUIRE(::read(told.first.get(), &daemon, sizeof daemon) == sizeof daemon);
  CHECK(tag_of(tagged) == kTag);
  CHECK(tag_of(daemon) == kTag);
  CHECK(tag_of(::getpid()) != kTag);
  end_all();
  CHECK(tag_of(tagged) == 0);
  CHECK(offspring.all_gone());
}

TEST_CASE("a process is described by its command line, or else by its name") {
  base::FdPair told = base::make_pipe();
  const pid_t sleeper = fork_child([&] {
    ::execl("/bin/sleep", "sleep", "100", static_cast<char*>(nullptr));  // closes its end of the pipe
    return 1;
  });
  told.second.reset();
  char byte = 0;
  REQUIRE(::read(told.first.get(), &byte, 1) == 0);
  CHECK(describe_process(sleeper) == std::to_string(sleeper) + " (sleep 100)");
  ::kill(sleeper, SIGKILL);
  await_end(sleeper);
  CHECK(describe_process(sleeper) == std::to_string(sleeper) + " ([sleep])");
  testing::wait_for(sleeper);
}
