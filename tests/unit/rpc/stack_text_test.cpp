// Where a function's error was thrown, as reported to its caller.
#include <catch2/catch.hpp>

#include <stdexcept>

#include <distrun/runtime/rpc/calls/call.hpp>
#include <distrun/runtime/rpc/functions/register_class.hpp>

#include "session_ranks.hpp"
#include "support/error_of.hpp"

namespace distrun::rpc {
namespace stack_text_test {

constexpr int kThrowLine = __LINE__ + 2;
__attribute__((noinline)) void throw_odd(int number) {
  if (number % 2 != 0) throw std::out_of_range("odd");
}
// Written after the call, which prevents a tail call.
volatile int calls = 0;
constexpr int kCheckLine = __LINE__ + 2;
__attribute__((noinline)) int check_number(int number) {
  throw_odd(number);
  calls = calls + 1;
  return number;
}

int checked(int number) { return check_number(number); }
int checked_quickly(int number) { return check_number(number); }
DISTRUN_RPC(checked)
DISTRUN_RPC_INLINE(checked_quickly)

__attribute__((noinline)) int relayed(int number) {
  const int result = rpc_sync(0, checked, number);
  calls = calls + 1;
  return result;
}
DISTRUN_RPC(relayed)

struct Checker {
  int check(int number) const { return check_number(number); }
};
[[maybe_unused]] const auto checker = RegisterClass<Checker>("StackChecker")
                                          .constructor<>()
                                          .by_value([](const Checker&) { return 1; }, [](int) { return Checker(); })
                                          .method("check", &Checker::check);

// Returns the trace of each call's error, made by the rank `caller` of two.
std::vector<std::string> traces_of(int caller, const std::vector<std::function<void()>>& calls_of) {
  const Ranks ranks(2);
  std::vector<std::string> traces;
  const std::vector<std::string> errors = ranks.run([&](int rank) {
    init_rpc(ranks.options(rank));
    for (std::size_t i = 0; rank == caller && i < calls_of.size(); ++i) {
      const Error error = testing::error_of(calls_of[i]);
      traces.push_back(error.type() + "\n" + error.remote_trace().value_or("nothing"));
    }
    shutdown();
  });
  CHECK(errors == no_errors(2));
  return traces;
}

std::string place(int line) { return "/stack_text_test.cpp:" + std::to_string(line); }

void check_told(const std::string& trace) {
  INFO(trace);
  const auto thrown = trace.find("  thrown in "), at = trace.find(place(kThrowLine));
  CHECK(trace.find("IndexError\nOn WorkerInfo(id=") == 0);
  CHECK(trace.find("stack_text_test::throw_odd(int) at /") != std::string::npos);
  CHECK(trace.find("\n  called by distrun::rpc::stack_text_test::check_number(int) at /") != std::string::npos);
  CHECK(thrown < at);
  CHECK(at < trace.find(place(kCheckLine)));
  CHECK(trace.find(place(kCheckLine)) != std::string::npos);
  CHECK(trace.find("__cxa_throw") == std::string::npos);
  CHECK(trace.find("detail::make_run") == std::string::npos);
  CHECK(trace.find("RegisterClass") == std::string::npos);
}

}  // namespace stack_text_test

namespace {

using namespace stack_text_test;

TEST_CASE("an error of a function, quick or not, or of a method, says where it was thrown") {
  const std::vector<std::string> traces =
      traces_of(1, {[] { rpc_sync(0, checked, 1); }, [] { rpc_sync(0, checked_quickly, 1); },
                    [] { rpc_sync<int>(0, "StackChecker.check", std::make_shared<Checker>(), 3); }});
  REQUIRE(traces.size() == 3);
  for (const std::string& each : traces) check_told(each);
}

TEST_CASE("an error that is passed on names both places, the outer one first") {
  const std::vector<std::string> traces = traces_of(0, {[] { rpc_sync(1, relayed, 1); }});
  REQUIRE(traces.size() == 1);
  const std::string& trace = traces[0];
  check_told(trace);
  INFO(trace);
  const auto outer = trace.find("stack_text_test::relayed(int)"), inner = trace.find("On WorkerInfo(id=0");
  CHECK(trace.find("On WorkerInfo(id=1") < outer);
  CHECK(outer < inner);
  CHECK(inner < trace.find("stack_text_test::throw_odd(int)"));
}

}  // namespace
}  // namespace distrun::rpc
