#include <catch2/catch.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <complex>
#include <csignal>
#include <limits>
#include <map>
#include <memory>

#include <distrun/common/base/check.hpp>
#include <distrun/common/base/fd.hpp>

using distrun::base::CheckResult;
using distrun::base::Decompose;
using distrun::base::show;

namespace {

struct Opaque {};
enum class Color { Red = 3 };

// Runs `body` in a child; returns its stderr and how it ended.
template <class Body>
std::pair<std::string, int> in_child(Body body) {
  distrun::base::FdPair pipe = distrun::base::make_pipe();
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(pipe.second.get(), STDERR_FILENO);
    body();
    ::_exit(0);
  }
  pipe.second.reset();
  std::string text;
  char buffer[512];
  for (ssize_t got; (got = ::read(pipe.first.get(), buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(got));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return {text, status};
}

}  // namespace

TEST_CASE("a check that holds prints nothing and one that fails prints both operands") {
  const int two = 2;
  CHECK(((Decompose() <=> two) == 2).operands.empty());
  const CheckResult failed = (Decompose() <=> two) > 3;
  CHECK_FALSE(failed.holds);
  CHECK(failed.operands == "left: 2, right: 3");
  const std::string name = "ab";
  CHECK(CheckResult((Decompose() <=> name) == "cd").operands == "left: \"ab\", right: \"cd\"");
}

TEST_CASE("every comparison is taken apart into its operands") {
  const int one = 1;
  CHECK(((Decompose() <=> one) == 1).holds);
  CHECK(((Decompose() <=> one) != 2).holds);
  CHECK(((Decompose() <=> one) < 2).holds);
  CHECK(((Decompose() <=> one) <= 1).holds);
  CHECK(((Decompose() <=> one) > 0).holds);
  CHECK(((Decompose() <=> one) >= 1).holds);
  CHECK_FALSE(((Decompose() <=> one) != 1).holds);
  CHECK_FALSE(((Decompose() <=> one) >= 2).holds);
}

TEST_CASE("a single value is judged as a condition") {
  const std::unique_ptr<int> empty;
  const int zero = 0;
  CHECK_FALSE(CheckResult(Decompose() <=> zero).holds);
  CHECK(CheckResult(Decompose() <=> zero).operands == "0");
  CHECK_FALSE(CheckResult(Decompose() <=> empty).holds);
  CHECK(CheckResult(Decompose() <=> std::make_unique<int>(1)).holds);
}

TEST_CASE("operands are shown as a reader expects them") {
  CHECK(show(true) == "true");
  CHECK(show(nullptr) == "nullptr");
  CHECK(show(std::string("a\"b")) == "\"a\"b\"");
  CHECK(show(static_cast<const char*>(nullptr)) == "nullptr");
  CHECK(show("text") == "\"text\"");
  CHECK(show(static_cast<unsigned char>(65)) == "65");
  CHECK(show(Color::Red) == "3");
  CHECK(show(Opaque{}) == "?");
  CHECK(show(std::vector<int>{1, 2, 3}) == "{1, 2, 3}");
  CHECK(show(std::vector<std::string>{"a", "b"}) == "{\"a\", \"b\"}");
  CHECK(show(std::vector<bool>{true, false}) == "{true, false}");
  CHECK(show(std::vector<std::vector<int>>{{1}, {}}) == "{{1}, {}}");
}

TEST_CASE("floating-point operands are shown with all digits that distinguish them") {
  const double sum = 0.1 + 0.2;
  CHECK(((Decompose() <=> sum) == 0.3).operands == "left: 0.30000000000000004, right: 0.3");
  const float tenth = 0.1F;
  CHECK(show(tenth) == "0.1");
  CHECK(show(1.0) == "1");
  CHECK(show(-0.0) == "-0");
  CHECK(show(1e22) == "1e+22");
  CHECK(show(std::numeric_limits<double>::infinity()) == "inf");
  CHECK(show(std::vector<double>{0.1 + 0.2, 1.5}) == "{0.30000000000000004, 1.5}");
}

TEST_CASE("different operands are never shown alike") {
  const float tenth = 0.1F;
  CHECK(((Decompose() <=> tenth) == 0.1).operands == "left: 0.10000000149011612, right: 0.1");
  const std::complex<double> sum(0.1 + 0.2, 0);
  CHECK(((Decompose() <=> sum) == std::complex<double>(0.3, 0)).operands ==
        "left: (0.30000000000000004,0), right: (0.29999999999999999,0)");
  const std::string text = "ring";
  const char* name = text.c_str();
  CHECK_THAT(((Decompose() <=> name) == static_cast<const char*>("ring")).operands,
             Catch::StartsWith("left: \"ring\", right: \"ring\" (the pointers differ"));
}

TEST_CASE("a long range is cut after 32 elements") {
  CHECK(show(std::vector<int>(32, 7)).find("...") == std::string::npos);
  const std::string text = show(std::vector<int>(33, 7));
  CHECK(text.substr(text.size() - 6) == ", ...}");
}

TEST_CASE("an invariant that holds evaluates its expression once") {
  int evaluated = 0;
  DISTRUN_ASSERT(++evaluated == 1);
  CHECK(evaluated == 1);
}

TEST_CASE("a broken invariant names its expression, operands and place, and aborts") {
  const auto [text, status] = in_child([] {
    const int ranks = 3;
    DISTRUN_ASSERT(ranks == 4);
  });
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGABRT);
  CHECK(text.find("check_test.cpp:") != std::string::npos);
  CHECK(text.find("broken invariant: ranks == 4 (left: 3, right: 4)") != std::string::npos);
}
