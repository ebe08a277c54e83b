#include <catch2/catch.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include <distrun/common/base/error.hpp>
#include <distrun/runner/daemon/client.hpp>
#include <distrun/runner/daemon/own_run.hpp>

#include "../support/forked.hpp"
#include "support/scratch.hpp"

using namespace distrun;
using namespace distrun::testing;

TEST_CASE("a run of the daemon enters the client's directory and forgets which process started it") {
  const Scratch scratch;
  const std::string directory = scratch.directory("here");
  const ForkedEnd end = in_child([&] {
    const base::FdPair low = base::make_pipe();
    const base::Fd reads(::fcntl(low.first.get(), F_DUPFD_CLOEXEC, 20));
    const base::Fd writes(::fcntl(low.second.get(), F_DUPFD_CLOEXEC, 20));
    const base::Fd opened(::fcntl(::open(directory.c_str(), O_PATH | O_DIRECTORY), F_DUPFD_CLOEXEC, 20));
    if (::dup2(opened.get(), 3) != 3 || ::dup2(writes.get(), 4) != 4) return 1;
    ::setenv(daemon::kOwnRunVariable, "0123456789ab", 1);
    std::optional<daemon::OwnRun> own = daemon::enter_own_run();
    if (!own || own->id != "0123456789ab") return 2;
    if ((::fcntl(4, F_GETFD) & FD_CLOEXEC) == 0) return 7;
    own->give_place_back();
    own->give_place_back();
    char word = 0;
    if (::read(reads.get(), &word, 1) != 1) return 8;
    if (std::getenv(daemon::kOwnRunVariable) != nullptr) return 3;
    if (std::filesystem::current_path() != std::filesystem::canonical(directory)) return 4;
    return ::fcntl(3, F_GETFD) < 0 ? 0 : 5;
  });
  CHECK(end == ForkedEnd{0, 0});
}

TEST_CASE("without the daemon's variable, or with an invalid one, no directory is entered") {
  ::unsetenv(daemon::kOwnRunVariable);
  CHECK_FALSE(daemon::enter_own_run());
  ::setenv(daemon::kOwnRunVariable, "../../0123456", 1);
  CHECK_FALSE(daemon::enter_own_run());
  CHECK(std::getenv(daemon::kOwnRunVariable) == nullptr);
}

TEST_CASE("a directory that cannot be entered is an error") {
  const ForkedEnd end = in_child([] {
    ::close(3);
    ::setenv(daemon::kOwnRunVariable, "0123456789ab", 1);
    try {
      daemon::enter_own_run();
    } catch (const Error& error) {
      return error.kind() == ErrorKind::Failed ? 0 : 1;
    }
    return 2;
  });
  CHECK(end == ForkedEnd{0, 0});
}

TEST_CASE("options and variables of the daemon are dropped from what a client sends") {
  ::setenv("DISTRUN_DAEMON", "1", 1);
  ::setenv("DISTRUN_TEST_MARK", "kept", 1);
  const wire::Submission own =
      daemon::own_submission({"distrun", "--daemon", "-w", "2", "--daemon=true", "a.so", "--", "--daemon"});
  CHECK(own.arguments == std::vector<std::string>{"distrun", "-w", "2", "a.so", "--", "--daemon"});
  bool marked = false;
  for (const std::string& entry : own.environment) {
    CHECK_FALSE(entry.starts_with("DISTRUN_DAEMON="));
    marked = marked || entry == "DISTRUN_TEST_MARK=kept";
  }
  CHECK(marked);
}
