// Memory shared between processes, and modules.
#include <catch2/catch.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/core/module.hpp>
#include <distrun/runtime/core/shared_memory.hpp>

#include "unit/support/limits.hpp"

namespace distrun::core {
namespace {

TEST_CASE("another process finds the memory by its address, and sees writes to it") {
  const SharedMemory mine("a test", 10'000);
  std::strcpy(static_cast<char*>(mine.data()), "hello");
  const SharedAddress address = mine.address();
  const pid_t child = ::fork();
  if (child == 0) {
    int code = 1;
    try {
      const SharedMemory theirs(address, 10'000);
      auto* text = static_cast<char*>(theirs.data());
      if (std::strcmp(text, "hello") == 0) code = 0;
      std::strcpy(text, "answer");
    } catch (const Error&) {
    }
    ::_exit(code);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(std::string(static_cast<char*>(mine.data())) == "answer");
}

TEST_CASE("memory beyond the file size limit is an error with both sizes, and does not end the process") {
  CHECK(distrun::testing::under_small_file_limit([] {
          try {
            const SharedMemory memory("a test", 1'000'000);
            return 1;
          } catch (const Error& error) {
            const std::string text = error.what();
            const bool is_told =
                text.find("cannot make 1000000 bytes of shared memory \"distrun a test\"") != text.npos &&
                text.find("the limit of file size is 4 KiB (RLIMIT_FSIZE); raise it") != text.npos;
            return is_told ? 0 : 2;
          }
        }) == 0);
}

TEST_CASE("memory of a process that has ended is refused") {
  const SharedMemory mine("a test", 100);
  SharedAddress address = mine.address();
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  address.pid = child;
  CHECK_THROWS_WITH(SharedMemory(address, 100), Catch::Contains("cannot open the memory shared by process"));
  CHECK_FALSE(is_alive(child));
}

TEST_CASE("another file under the same number is refused") {
  const SharedMemory mine("a test", 100);
  SharedAddress address = mine.address();
  address.inode += 1;
  CHECK_THROWS_WITH(SharedMemory(address, 100), Catch::Contains("is not the process that shared the memory"));
}

TEST_CASE("memory that is smaller than expected is refused, not mapped") {
  const SharedMemory mine("a test", 100);
  CHECK_THROWS_WITH(SharedMemory(mine.address(), 1'000'000), Catch::Contains("is smaller than the 1000000 bytes"));
}

TEST_CASE("shared memory keeps its size, so that a process that maps it never faults") {
  const base::Fd memfd = make_memfd("a test", 4096);
  CHECK(::ftruncate(memfd.get(), 0) != 0);
}

// Its owner could shrink it: an access beyond the end would raise SIGBUS.
TEST_CASE("memory with a size that is not sealed is refused, not mapped") {
  const base::Fd open(::memfd_create("a test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  REQUIRE(::ftruncate(open.get(), 4096) == 0);
  CHECK_THROWS_WITH(SharedMemory(address_of(open.get()), 4096), Catch::Contains("has no sealed size"));
  REQUIRE(::fcntl(open.get(), F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK) == 0);
  CHECK_THROWS_WITH(SharedMemory(address_of(open.get()), 4096), Catch::Contains("has no sealed size"));
  REQUIRE(::fcntl(open.get(), F_ADD_SEALS, F_SEAL_SEAL) == 0);
  CHECK(SharedMemory(address_of(open.get()), 4096).size() == 4096);
}

TEST_CASE("a file that is not memory is refused, not waited for") {
  const base::FdPair pipe = base::make_pipe();
  CHECK_THROWS_WITH(SharedMemory(address_of(pipe.first.get()), 1), Catch::Contains("has no sealed size"));
  CHECK_THROWS_AS(SharedMemory(address_of(make_memfd("a test", 0).get()), 0), Error);
}

TEST_CASE("a missing module is an error that says so") {
  const Module none = open_module({"XYZ", "distrun_no_such_module.so", "entry"});
  CHECK(none.entry == nullptr);
  CHECK(none.why_none == "this distrun was built without XYZ: there is no distrun/distrun_no_such_module.so");
}

}  // namespace
TEST_CASE("a process that has exited is not alive, even before it is reaped") {
  const pid_t pid = ::fork();
  if (pid == 0) std::_Exit(0);
  siginfo_t ended{};
  REQUIRE(::waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED | WNOWAIT) == 0);
  CHECK_FALSE(is_alive(pid));
  ::waitpid(pid, nullptr, 0);
  CHECK_FALSE(is_alive(pid));
  CHECK(is_alive(::getpid()));
}

}  // namespace distrun::core
