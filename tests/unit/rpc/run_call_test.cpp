// Calls as they are run: what is quick, and what is not after all.
#include <catch2/catch.hpp>

#include <distrun/runtime/rpc/calls/call.hpp>
#include <distrun/runtime/rpc/functions/register_class.hpp>

#include "session_ranks.hpp"

namespace distrun::rpc {
namespace run_call_test {

struct Scale {
  int factor = 1;
  int times(int number) const { return factor * number; }
};
[[maybe_unused]] const auto scale =
    RegisterClass<Scale>("RunCallScale")
        .constructor<>()
        .by_value([](const Scale& object) { return object.factor; },
                  [](int factor) {
                    if (factor < 0) throw Error(ErrorKind::InvalidArgument, "ValueError", "a factor below 0");
                    return Scale{factor};
                  })
        .method<Execution::Inline>("times", &Scale::times, {"number"});

int scaled(const std::shared_ptr<Scale>& by, int number) { return by->times(number); }
int counted(const ValueList& values) { return static_cast<int>(values.size()); }
DISTRUN_RPC_INLINE(scaled, "by", "number")
DISTRUN_RPC_INLINE(counted, "values")

std::shared_ptr<Scale> scale_of(int factor) { return std::make_shared<Scale>(Scale{factor}); }

}  // namespace run_call_test

namespace {

using namespace run_call_test;

// What worker1 gets of worker0.
std::string asked(const std::function<std::string()>& ask) {
  const Ranks ranks(2);
  std::string answer;
  CHECK(ranks.run([&](int rank) {
    init_rpc(ranks.options(rank));
    if (rank == 1) answer = ask();
    shutdown();
  }) == no_errors(2));
  return answer;
}

TEST_CASE("quick functions and methods take objects by value, alone and among others") {
  CHECK(asked([] { return std::to_string(rpc_sync(0, scaled, scale_of(3), 4)); }) == "12");
  CHECK(asked([] { return std::to_string(rpc_sync<int>(0, "RunCallScale.times", scale_of(5), 4)); }) == "20");
  CHECK(asked([] {
          return std::to_string(rpc_sync(0, counted, ValueList{to_value(1), to_value(scale_of(2))}));
        }) == "2");
}

TEST_CASE("what is wrong with the arguments of a quick function is told as of any other") {
  CHECK(asked([] { return text_of_error([] { rpc_sync(0, scaled, scale_of(-1), 4); }); }) == "a factor below 0");
  CHECK(asked([] { return text_of_error([] { rpc_sync<int>(0, "scaled", scale_of(1), "x"); }); }) ==
        "argument 'number' must be int, not str");
  CHECK(asked([] { return text_of_error([] { rpc_sync<int>(0, "scaled", scale_of(1)); }); }) ==
        "scaled() missing 1 required positional argument: 'number'");
  CHECK(asked([] { return text_of_error([] { rpc_sync<int>(0, "add", scale_of(1), 1); }); }) ==
        "unsupported operand type(s) for +: 'object' and 'int'");
}

}  // namespace
}  // namespace distrun::rpc
