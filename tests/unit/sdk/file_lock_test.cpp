#include <distrun/plugin/sdk/file_lock.hpp>

#include <catch2/catch.hpp>

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <memory>

#include <distrun/common/base/error.hpp>

#include "../support/forked.hpp"
#include "support/scratch.hpp"

namespace {

using distrun::FileLock;
using distrun::base::Fd;

bool is_free(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  return ::flock(file.get(), LOCK_EX | LOCK_NB) == 0;
}

}  // namespace

TEST_CASE("a lock is held as long as its object exists", "[sdk]") {
  const distrun::testing::Scratch scratch;
  const std::string path = scratch.path() + "/lock";
  {
    const FileLock lock(path);
    CHECK_FALSE(is_free(path));
  }
  CHECK(is_free(path));
}

TEST_CASE("a process that dies releases its lock", "[sdk]") {
  const distrun::testing::Scratch scratch;
  const std::string path = scratch.path() + "/lock";
  const auto end = distrun::testing::in_child([&] {
    const FileLock lock(path);
    ::kill(::getpid(), SIGKILL);
    return 0;
  });
  CHECK(end.signal == SIGKILL);
  const FileLock lock(path);  // does not wait
  CHECK_FALSE(is_free(path));
}

TEST_CASE("a lock that cannot be created is an error with its path", "[sdk]") {
  CHECK_THROWS_WITH(FileLock("/no/such/directory/lock"), Catch::Contains("/no/such/directory/lock"));
}
