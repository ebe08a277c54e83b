// How calls run: quick ones, and those that turn out not to be quick.
#include <catch2/catch.hpp>

#include <atomic>
#include <thread>

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

// Returns to a caller from `asking_thread` whether the call ran on that thread.
std::atomic<std::thread::id> asking_thread;
Result is_asking_thread(const ValueList&) { return to_value(std::this_thread::get_id() == asking_thread.load()); }
Result not_yet(const ValueList&) {
  static const future::Future<Value> done;
  return done;
}
int end_it() {
  std::get<future::Future<Value>>(not_yet({})).set_result(to_value(7));
  return 0;
}
DISTRUN_RPC(end_it)
const auto as_told = [](const ValueList& arguments) { return from_value<bool>(arguments[0]); };
[[maybe_unused]] const bool are_dynamic_registered =
    register_dynamic({{"is_asking_thread", {{"quick", "bool"}}}, Execution::Plain, &is_asking_thread, as_told}) &&
    register_dynamic({{"not_yet", {{"quick", "bool"}}}, Execution::Plain, &not_yet, as_told});

std::shared_ptr<Scale> scale_of(int factor) { return std::make_shared<Scale>(Scale{factor}); }

}  // namespace run_call_test

namespace {

using namespace run_call_test;

// Returns worker1's answer from worker0.
std::string asked(const std::function<std::string()>& ask) {
  const Ranks ranks(2);
  std::string answer;
  CHECK(ranks.run([&](int rank) {
    init_rpc(ranks.options(rank));
    if (rank == 1) rpc_sync<int>(0, "own_rank");  // calls that come before a rank is ready are run later
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

TEST_CASE("a wrong argument of a quick function is reported like that of any other") {
  CHECK(asked([] { return text_of_error([] { rpc_sync(0, scaled, scale_of(-1), 4); }); }) == "a factor below 0");
  CHECK(asked([] { return text_of_error([] { rpc_sync<int>(0, "scaled", scale_of(1), "x"); }); }) ==
        "argument 'number' must be int, not str (incompatible function arguments)");
  CHECK(asked([] { return text_of_error([] { rpc_sync<int>(0, "scaled", scale_of(1)); }); }) ==
        "scaled() missing 1 required positional argument: 'number'");
  CHECK(asked([] { return text_of_error([] { rpc_sync<int>(0, "add", scale_of(1), 1); }); }) ==
        "unsupported operand type(s) for +: 'object' and 'int'");
}

TEST_CASE("a function that finds its arguments quick runs where the call is read, except for local calls") {
  const auto ask = [](int to, const auto& quick) {
    asking_thread = std::this_thread::get_id();
    return std::string(rpc_sync<bool>(to, "is_asking_thread", quick) ? "read" : "handled");
  };
  // The sender's thread reads messages with these agents.
  CHECK(asked([&] { return ask(0, true) + " " + ask(0, false) + " " + ask(1, true); }) == "read handled handled");
  // Errors in the arguments are reported by the function.
  CHECK(asked([&] { return ask(0, "x"); }) == "handled");
}

TEST_CASE("a quick function may return a future that is not done") {
  CHECK(asked([] {
          const auto answer = rpc_async<int>(0, "not_yet", true);
          const bool was_done = answer.done();
          rpc_sync(0, end_it);
          return std::to_string(answer.wait()) + (was_done ? " at once" : " later");
        }) == "7 later");
}

}  // namespace
}  // namespace distrun::rpc
