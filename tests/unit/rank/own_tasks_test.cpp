// A process's threads, listed without allocation.
#include <catch2/catch.hpp>

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string>

#include <distrun/common/base/thread.hpp>
#include <distrun/plugin/rank/own_tasks.hpp>

using namespace distrun;
using namespace distrun::rank;

namespace {

pid_t own_tid() { return static_cast<pid_t>(::syscall(SYS_gettid)); }

// Returns the id of a thread that has ended.
pid_t ended_thread() {
  pid_t tid = 0;
  base::Thread("ended", [&tid] { tid = own_tid(); }).join();
  return tid;
}

}  // namespace

TEST_CASE("a thread is listed with its name and state") {
  ::prctl(PR_SET_NAME, "listed");
  bool found = false;
  OwnTasks tasks;
  for (pid_t tid = tasks.next(); tid != 0; tid = tasks.next()) found = found || tid == own_tid();
  CHECK(found);

  char name[16] = "before";
  read_name(own_tid(), name);
  CHECK(std::string(name) == "listed");
  TaskStatus status;
  CHECK(read_status(own_tid(), status));
  CHECK(status.state == 'R');
}

TEST_CASE("a thread that has exited has no name and no state") {
  const pid_t ended = ended_thread();
  char name[16] = "before";
  read_name(ended, name);
  CHECK(std::string(name).empty());
  TaskStatus status;
  CHECK_FALSE(read_status(ended, status));
}
