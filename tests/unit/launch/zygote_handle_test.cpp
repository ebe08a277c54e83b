#include <catch2/catch.hpp>

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>

#include <distrun/runner/evidence/proc/task_state.hpp>
#include <distrun/runner/launch/zygote_handle.hpp>
#include <distrun/runner/proc/child.hpp>

#include "launched.hpp"
#include "support/skip.hpp"

using namespace distrun;
using namespace distrun::launch;

TEST_CASE("a plugin that ends the zygote while it is loaded is named as the cause") {
  testing::skip_case_if(!kForks, "no zygote forks under the thread sanitizer");
  Machine machine;
  ::setenv("DISTRUN_UNIT_LAUNCH", "exit", 1);
  CHECK_THAT(error_of([&] { machine.prepare(); }),
             Catch::Contains(" ended its process with exit code 0 while it was loaded"));
}

TEST_CASE("messages that a zygote sent before it was killed are read, though its death is seen first") {
  testing::skip_case_if(!kForks, "no zygote forks under the thread sanitizer");
  ::unsetenv("DISTRUN_UNIT_LAUNCH");
  proc::become_subreaper();
  io::Loop loop;
  const Probe::Program probe{"/no/such/probe", {}};  // unused
  ZygoteHandle zygote(loop, DISTRUN_RANK_PROGRAM, probe, proc::inherited_environment(), DISTRUN_UNIT_PLUGIN);
  REQUIRE(testing::run_task(loop, zygote.ready(Machine::kBound)).empty());

  const base::Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  std::vector<base::FdPair> lines;
  int answers = 0;
  std::vector<std::int32_t> pids;
  for (int rank = 0; rank < 2; ++rank) {
    lines.push_back(base::make_socket_pair(SOCK_STREAM));
    // The rank's line, its output, and a stand-in for its board.
    const std::vector<int> fds{lines.back().second.get(), null.get(), null.get(), null.get()};
    zygote.fork({1, 1, 0, {}}, fds, [&](const auto& told, const std::string&) {
      ++answers;
      if (told) pids.insert(pids.end(), told->pids.begin(), told->pids.end());
    });
  }
  // Both ranks exist, and the zygote waits for its next order: so it has answered. Nothing has read the answer yet.
  REQUIRE(testing::eventually(testing::kLong, [&] {
    return proc::own_children().size() == 3 &&
           evidence::read_task(zygote.pid(), zygote.pid()).syscall.starts_with("recvmsg");
  }));
  zygote.kill();
  REQUIRE(testing::eventually(testing::kLong, [&] { return proc::is_zombie(zygote.pid()); }));
  REQUIRE(testing::run_until(loop, [&] { return answers == 2; }));
  CHECK(pids.size() == 2);
  lines.clear();
  for (const pid_t pid : pids) ::kill(pid, SIGKILL);
}
