// Plans of faults in their text form.
#include <catch2/catch.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/common/wire/fault_plan.hpp>

#include "support/error_of.hpp"

namespace distrun::wire {
namespace {

using namespace std::chrono_literals;
using Action = Fault::Action;

FaultPlan parse(const std::string& text) { return parse_fault_plan("--faults", text); }

std::string refusal(const std::string& text) {
  const Error error = distrun::testing::error_of([&] { parse(text); });
  CHECK(error.kind() == ErrorKind::InvalidArgument);
  return error.text();
}

FaultKinds kinds_of(const char* name) { return try_fault_kinds(name).value(); }

TEST_CASE("a plan says which fault applies to which messages") {
  const FaultPlan plan = parse(
      "7:drop:retriable:0.1,dup:ack+reply:0.25,reorder:any:0.2:3,delay:call:1.5,delay:fetch:0.002:ordered,"
      "fail:fork_request:3,cut:1@500,corrupt:reply:0.01");
  CHECK(plan.seed == 7);
  CHECK(plan.text.substr(0, 19) == "drop:retriable:0.1,");
  REQUIRE(plan.faults.size() == 8);
  CHECK(plan.faults[0].action == Action::Drop);
  CHECK(plan.faults[0].kinds == retriable_kinds());
  CHECK(plan.faults[0].chance == 0.1);
  CHECK(plan.faults[1].action == Action::Duplicate);
  CHECK(plan.faults[1].kinds == (kinds_of("ack") | kinds_of("reply")));
  CHECK(plan.faults[2].action == Action::Reorder);
  CHECK(plan.faults[2].kinds.all());
  CHECK(plan.faults[2].count == 3);
  CHECK(plan.faults[3].action == Action::Delay);
  CHECK(plan.faults[3].delay == 1500ms);
  CHECK_FALSE(plan.faults[3].keeps_order);
  CHECK(plan.faults[4].keeps_order);
  CHECK(plan.faults[4].delay == 2ms);
  CHECK(plan.faults[5].action == Action::Fail);
  CHECK(plan.faults[5].count == 3);
  CHECK(plan.faults[6].action == Action::Cut);
  CHECK(plan.faults[6].worker == 1);
  CHECK(plan.faults[6].count == 500);
  CHECK(plan.faults[6].kinds.none());
  CHECK(plan.faults[7].action == Action::Corrupt);
}

TEST_CASE("each kind has a name") {
  for (std::size_t kind = 0; kind < kFaultKinds; ++kind) {
    CHECK(kinds_of(name_of(static_cast<FaultKind>(kind))) == FaultKinds().set(kind));
  }
  CHECK(retriable_kinds().count() == 5);
  CHECK_FALSE(try_fault_kinds("RREF_ACK"));
  CHECK_FALSE(try_fault_kinds(""));
}

TEST_CASE("an invalid plan is refused with the item, what is expected and an example") {
  const std::string unknown = refusal("7:drop:ack:0.1,drop:retryable:0.1");
  CHECK_THAT(unknown, Catch::StartsWith("--faults: \"drop:retryable:0.1\": \"retryable\" is not a kind of message"));
  CHECK_THAT(unknown, Catch::Contains("fork_request") && Catch::Contains("expected drop:KINDS:CHANCE"));
  CHECK_THAT(unknown, Catch::EndsWith("as in drop:retriable:0.1"));
  CHECK_THAT(refusal("7:lose:call:1"), Catch::Contains("\"lose:call:1\": expected one of fail:KINDS:N"));
  CHECK_THAT(refusal("7:drop:call"), Catch::Contains("parts are missing") && Catch::Contains("as in drop:"));
  CHECK_THAT(refusal("7:drop:call:0.1:3"), Catch::Contains("too many parts"));
  CHECK_THAT(refusal("7:drop:call:1.5"), Catch::Contains("\"1.5\" is not a number from 0 to 1"));
  CHECK_THAT(refusal("7:drop:call:nan"), Catch::Contains("\"nan\" is not a number"));
  CHECK_THAT(refusal("7:delay:call:-1"), Catch::Contains("\"-1\" is not a number from 0 to 3600"));
  CHECK_THAT(refusal("7:delay:call:1:sorted"), Catch::Contains("is not \"ordered\""));
  CHECK_THAT(refusal("7:fail:call:many"), Catch::Contains("\"many\" is not a number from 0 to 1000000"));
  CHECK_THAT(refusal("7:reorder:call:0.1:0"), Catch::Contains("from 1 to 1000"));
  CHECK_THAT(refusal("7:cut:1"), Catch::Contains("cut:1@500"));
  CHECK_THAT(refusal("7:cut:1@0"), Catch::Contains("\"0\" is not a number from 1"));
  CHECK_THAT(refusal("7:cut:40000@1"), Catch::Contains("32767"));
  CHECK_THAT(refusal("7:drop:call:0.1,"), Catch::Contains("\"\": expected one of"));
}

TEST_CASE("a plan without a seed, or with nothing else, is refused") {
  for (const char* text : {"", "7", "7:", ":drop:call:1", "drop:call:1", "-7:drop:call:1", "7x:drop:call:1",
                           "99999999999999999999:drop:call:1"}) {
    INFO(text);
    CHECK_THAT(refusal(text), Catch::Contains("expected SEED:PLAN, as in 7:drop"));
  }
}

TEST_CASE("the number of faults and the length of a plan are limited") {
  std::string many = "7:drop:call:1";
  for (int i = 0; i < 64; ++i) many += ",drop:call:1";
  CHECK_THAT(refusal(many), Catch::Contains("at most 64 faults"));
  CHECK_THAT(refusal("7:drop:" + std::string(5000, 'a') + ":1"), Catch::Contains("at most 4096 bytes"));
  CHECK(parse_faults("--faults", "").empty());
}

}  // namespace
}  // namespace distrun::wire
