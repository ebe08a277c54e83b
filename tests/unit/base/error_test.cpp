#include <catch2/catch.hpp>

#include <cerrno>

#include <distrun/common/base/error.hpp>

using namespace distrun;

TEST_CASE("an error has the type name of its kind, unless the code that throws it gives one") {
  CHECK(Error(ErrorKind::Failed, "x").type() == "RuntimeError");
  CHECK(Error(ErrorKind::Timeout, "x").type() == "RuntimeError");
  CHECK(Error(ErrorKind::InvalidArgument, "x").type() == "ValueError");
  CHECK(Error(ErrorKind::InvalidArgument, "KeyError", "x").type() == "KeyError");
}

TEST_CASE("an error's context is read from the outside in") {
  Error error(ErrorKind::Failed, "no such file");
  CHECK(std::string(error.what()) == "no such file");
  error.while_doing("open ring.so").while_doing("load plugin");
  CHECK(std::string(error.what()) == "load plugin: open ring.so: no such file");
  CHECK(error.text() == "no such file");
  CHECK(error.context() == std::vector<std::string>{"open ring.so", "load plugin"});
}

TEST_CASE("a copy of an error shares nothing with it") {
  Error error(ErrorKind::Disconnected, "gone");
  Error copy = error;
  copy.while_doing("send").with_remote_trace("at worker1");
  CHECK(std::string(error.what()) == "gone");
  CHECK_FALSE(error.remote_trace());
  CHECK(copy.remote_trace() == "at worker1");
}

TEST_CASE("an error knows where it was created") {
  const Error error(ErrorKind::Failed, "x");
  CHECK(std::string(error.where().file).find("error_test.cpp") != std::string::npos);
  CHECK(error.where().line == __LINE__ - 2);
}

TEST_CASE("every kind of error has a separate name") {
  const auto kinds = {ErrorKind::Failed,  ErrorKind::InvalidArgument, ErrorKind::Overloaded,   ErrorKind::Disconnected,
                      ErrorKind::Timeout, ErrorKind::Cancelled,       ErrorKind::Unimplemented};
  std::vector<std::string> names;
  for (const ErrorKind kind : kinds) names.emplace_back(base::name_of(kind));
  std::sort(names.begin(), names.end());
  CHECK(std::unique(names.begin(), names.end()) == names.end());
  CHECK(std::string(base::name_of(static_cast<ErrorKind>(99))) == "unknown");
}

TEST_CASE("an errno is reported with its text and its name, and an unknown one does no harm") {
  CHECK(base::errno_text(EACCES) == "Permission denied (EACCES)");
  CHECK(base::errno_text(123456).find("123456") != std::string::npos);
  try {
    base::throw_errno("cannot open x", ENOENT);
    FAIL("it must throw");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::Failed);
    CHECK(error.type() == "OSError");
    CHECK(std::string(error.what()) == "cannot open x: No such file or directory (ENOENT)");
  }
}

TEST_CASE("an error names the first rank that it follows from, and its copies do") {
  Error error(ErrorKind::Disconnected, "worker1 is gone");
  CHECK(error.because_of() == -1);
  CHECK(error.with_cause(-1).because_of() == -1);
  error.with_cause(1).with_cause(2);
  CHECK(Error(error).while_doing("call f").because_of() == 1);
  const PeerFailed failed("rank 3 failed", 3);
  CHECK(failed.rank() == 3);
  CHECK(failed.because_of() == 3);
}
