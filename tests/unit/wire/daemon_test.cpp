#include <catch2/catch.hpp>

#include <signal.h>

#include <distrun/common/base/error.hpp>
#include <distrun/common/wire/daemon.hpp>

#include "messages.hpp"

using namespace distrun;
using wire::Submission;

namespace {

ErrorKind refusal_of(const Submission& submission) {
  try {
    wire::check(submission);
  } catch (const Error& error) {
    return error.kind();
  }
  FAIL("it was not refused");
  return ErrorKind::Failed;
}

}  // namespace

TEST_CASE("a submission within the limits is accepted") {
  CHECK_NOTHROW(wire::check(wire::samples::submission()));
  Submission most;
  most.arguments.assign(wire::kArgumentsMax, "x");
  most.environment.assign(wire::kVariablesMax, std::string(63, 'x'));
  CHECK_NOTHROW(wire::check(most));
  CHECK(wire::encode(most).size() <= wire::kDaemonPayloadMax);
}

TEST_CASE("a submission over a limit is refused with advice") {
  Submission many = wire::samples::submission();
  many.arguments.assign(wire::kArgumentsMax + 1, "x");
  CHECK(refusal_of(many) == ErrorKind::Overloaded);
  CHECK_THROWS_WITH(wire::check(many), Catch::Contains("accepts 4096") && Catch::Contains("leave --daemon out"));
  Submission long_argument = wire::samples::submission();
  long_argument.arguments.emplace_back(wire::kArgumentsBytesMax, 'x');
  CHECK(refusal_of(long_argument) == ErrorKind::Overloaded);
  Submission large = wire::samples::submission();
  large.environment.emplace_back(wire::kEnvironmentBytesMax, 'x');
  CHECK(refusal_of(large) == ErrorKind::Overloaded);
  CHECK_THROWS_WITH(wire::check(large), Catch::Contains("environment"));
}

TEST_CASE("a submission that could start no program is refused") {
  Submission unnamed = wire::samples::submission();
  unnamed.arguments.clear();
  CHECK(refusal_of(unnamed) == ErrorKind::InvalidArgument);
  Submission cut = wire::samples::submission();
  cut.environment.emplace_back("A=b\0c", 5);
  CHECK(refusal_of(cut) == ErrorKind::InvalidArgument);
  Submission masked = wire::samples::submission();
  masked.file_mask = 01000;
  CHECK(refusal_of(masked) == ErrorKind::InvalidArgument);
}

TEST_CASE("a client may send a terminal's signals, and no others") {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH}) {
    CHECK(wire::may_be_sent({number}));
  }
  for (const int number : {0, -1, SIGKILL, SIGSTOP, SIGCHLD, SIGSEGV, SIGUSR1, 1000}) {
    CHECK_FALSE(wire::may_be_sent({number}));
  }
}
