// Destinations of calls, and participants of collectives.
#include <catch2/catch.hpp>

#include <limits>
#include <sstream>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/rpc/calls/call.hpp>
#include <distrun/runtime/rpc/calls/destination.hpp>
#include <distrun/runtime/rpc/functions/register_class.hpp>

#include "support/error_of.hpp"

namespace distrun::rpc {
namespace {

using testing::error_of;

struct Called {};
const auto called = RegisterClass<Called>("destination_test.Called");

TEST_CASE("a destination is a name, a worker or a rank, and knows the line of the call") {
  CHECK(std::get<std::string>(to("worker1").whom()) == "worker1");
  CHECK(std::get<std::string>(to(std::string_view("worker1")).whom()) == "worker1");
  CHECK(std::get<WorkerInfo>(to(WorkerInfo("worker1", 1)).whom()).id() == 1);
  CHECK(std::get<int>(to(3).whom()) == 3);
  CHECK_FALSE(to(3).timeout().has_value());
  const Destination here("worker1");
  CHECK(here.site().line == __LINE__ - 1);
  CHECK(here.within(1.0).site().line == here.site().line);
}

TEST_CASE("a rank that is not an integer is refused") {
  const Error error = error_of([] { Destination(1.5); });
  CHECK(error.type() == "ValueError");
  CHECK(error.text() == "cannot get a worker from 1.500000: name it, or give its rank as an integer");
}

TEST_CASE("a timeout is in seconds, or a duration, and never negative") {
  CHECK(to(1).within(0.5).timeout() == std::chrono::milliseconds(500));
  CHECK(to(1).within(0.0).timeout() == base::Nanoseconds(0));
  CHECK(to(1).within(std::chrono::milliseconds(20)).timeout() == std::chrono::milliseconds(20));
  for (const double bad :
       {-1.0, -1e-12, 1e10, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    const Error error = error_of([&] { to(1).within(bad); });
    CHECK(error.type() == "ValueError");
    CHECK_THAT(error.text(), Catch::StartsWith("RPC Timeout must be non-negative"));
  }
  CHECK_THROWS_AS(to(1).within(base::Nanoseconds(-1)), Error);
}

TEST_CASE("a tiny timeout is not taken as no timeout") { CHECK(to(1).within(1e-12).timeout()->count() == 1); }

TEST_CASE("names and ids of workers are validated") {
  CHECK(WorkerInfo("a-Z_0:9", 0) == WorkerInfo("a-Z_0:9", 0));
  CHECK_FALSE(WorkerInfo("a", 0) == WorkerInfo("a", 1));
  CHECK(std::hash<WorkerInfo>()(WorkerInfo("a", 1)) == std::hash<WorkerInfo>()(WorkerInfo("a", 1)));
  CHECK_NOTHROW(WorkerInfo(std::string(127, 'x'), 32767));
  std::ostringstream out;
  out << WorkerInfo("worker1", 1);
  CHECK(out.str() == "WorkerInfo(id=1, name=worker1)");
  const std::string rule = "Worker name must match ^[A-Za-z0-9-_:]*$, and must be non-empty and shorter than 128 chars";
  CHECK_THROWS_WITH(WorkerInfo("", 0), rule + ", but got \"\"");
  CHECK_THROWS_WITH(WorkerInfo("a b", 0), rule + ", but got \"a b\"");
  CHECK_THROWS_WITH(WorkerInfo("\xc3\xa4", 0), Catch::StartsWith(rule));
  CHECK_THROWS_WITH(WorkerInfo(std::string(128, 'x'), 0), rule + ", but got 128 chars");
  CHECK_THROWS_WITH(WorkerInfo("a", -1), "RPC worker id -1 of \"a\" is out of bounds: 0 to 32767");
  CHECK_THROWS_WITH(WorkerInfo("a", 32768), "RPC worker id 32768 of \"a\" is out of bounds: 0 to 32767");
}

TEST_CASE("the callee is a name, a method of an object, or a graph") {
  CHECK(std::get<std::string>(target_of("f").callee) == "f");
  CHECK(std::get<std::string>(target_of(FunctionName{"C.m"}).callee) == "C.m");
  const Target method = target_of(bound(Called(), "run"));
  CHECK(std::get<std::string>(method.callee) == "destination_test.Called.run");
  REQUIRE(method.before.size() == 1);
  CHECK(describe(method.before[0]) == "destination_test.Called");
  CHECK_THROWS_WITH(target_of(bound(3, "run")), "int 3 has no methods that can be called");
  CHECK_THROWS_WITH(target_of(std::shared_ptr<const GraphFunction>()), "there is no graph function to be called");
  CHECK_THROWS_WITH(rpc_sync("worker1", "f"), Catch::Contains("RPC has not been initialized"));
}

TEST_CASE("the arguments of a call follow the object of its method, and others are passed by name") {
  const CallRequest request = detail::make_request(to(1), bound(Called(), "run"), 2, arg("b", "x"), 3.5);
  REQUIRE(request.arguments.positional.size() == 3);
  CHECK(describe(request.arguments.positional[0]) == "destination_test.Called");
  CHECK(describe(request.arguments.positional[1]) == "int 2");
  CHECK(describe(request.arguments.positional[2]) == "float");
  REQUIRE(request.arguments.named.size() == 1);
  CHECK(request.arguments.named[0].first == "b");
}

}  // namespace
}  // namespace distrun::rpc
