#include <catch2/catch.hpp>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <latch>
#include <thread>

#include <distrun/runner/evidence/proc/proc_files.hpp>
#include <distrun/runner/evidence/proc/syscalls.hpp>
#include <distrun/runner/evidence/proc/task_state.hpp>

#include "../../support/scratch.hpp"
#include "../support/thread_sanitizer.hpp"
#include "support/skip.hpp"

using namespace distrun;
using namespace distrun::evidence;

namespace {

std::string line_of(long number, const std::string& arguments) { return std::to_string(number) + " " + arguments; }

}  // namespace

TEST_CASE("system calls are shown readably") {
  const std::string tail = " 0x7ffc0000 0x7f0000\n";
  CHECK(describe_syscall(line_of(SYS_read, "0x3 0x7ffc12 0x1 0x0 0x0 0x0" + tail)) == "read(3, 0x7ffc12, 1)");
  CHECK(describe_syscall(line_of(SYS_futex, "0x55d0 0x80 0x2 0x0 0x0 0x0" + tail)) == "futex(0x55d0)");
  CHECK(describe_syscall(line_of(SYS_openat, "0xffffff9c 0x55 0x0 0x0 0x0 0x0" + tail)) == "openat(-100, 0x55, 0x0)");
  CHECK(describe_syscall(line_of(SYS_clock_nanosleep, "0x0 0x0 0x7f 0x7f 0x0 0x0" + tail)) == "clock_nanosleep");
  CHECK(describe_syscall(line_of(9999, "0x0 0x0 0x0 0x0 0x0 0x0" + tail)) == "syscall 9999");
}

TEST_CASE("a thread that is not in a system call shows none") {
  CHECK(describe_syscall("running\n").empty());
  CHECK(describe_syscall("-1 0x7ffc0000 0x7f0000\n").empty());
  CHECK(describe_syscall("").empty());
  CHECK(describe_syscall("read").empty());
}

TEST_CASE("a truncated line gives no information") {
  CHECK(describe_syscall(line_of(SYS_read, "0x3")).empty());
  CHECK(describe_syscall(std::to_string(SYS_read)).empty());
}

TEST_CASE("the threads of this process are found, the main thread first, with their states") {
  testing::skip_case_if(testing::kThreadSanitizer, testing::kOwnThread);
  std::latch started(1);
  std::latch done(1);
  std::thread other([&] {
    ::prctl(PR_SET_NAME, "odd ) name");
    started.count_down();
    done.wait();
  });
  started.wait();
  const std::vector<pid_t> tids = tasks_of(::getpid());
  REQUIRE(tids.size() == 2);
  CHECK(tids.front() == ::getpid());
  const wire::TaskState own = read_task(::getpid(), ::getpid());
  CHECK(own.state == 'R');
  CHECK(own.cpu_ns > 0);
  CHECK(read_task(::getpid(), tids.back()).name == "odd ) name");
  CHECK(read_pulse(::getpid(), ::getpid()).state == 'R');
  done.count_down();
  other.join();
}

TEST_CASE("missing files are empty, and not an error") {
  constexpr pid_t kNobody = 1 << 30;
  CHECK(tasks_of(kNobody).empty());
  CHECK(read_task(kNobody, kNobody).state == '?');
  CHECK(read_pulse(kNobody, kNobody).cpu_ns == 0);
  CHECK(command_of(kNobody).empty());
  CHECK(tracer_of(kNobody) == 0);
  CHECK(user_of(kNobody) == -1);
}

TEST_CASE("a process without a tracer shows none") {
  CHECK_FALSE(is_traced(::getpid()));
  CHECK(user_of(::getpid()) == static_cast<std::int64_t>(::getuid()));
  CHECK_FALSE(command_of(::getpid()).empty());
}

TEST_CASE("a file that is longer than one read is read whole, such as the status of a user in many groups") {
  const testing::Scratch scratch;
  for (const std::size_t size : {0u, 1u, 4095u, 4096u, 4097u, 20'000u}) {
    const std::string path = scratch.path() + "/" + std::to_string(size);
    testing::write_file(path, std::string(size, 'x'));
    CHECK(read_short_file(AT_FDCWD, path.c_str()).text.size() == size);
  }
}
