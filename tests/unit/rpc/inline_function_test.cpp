// Inline functions run on the thread that reads messages: what would wait there for other ranks is refused at once.
#include <catch2/catch.hpp>

#include <distrun/runtime/core/inline_function.hpp>
#include <distrun/runtime/rpc/calls/call.hpp>
#include <distrun/runtime/rpc/functions/register_class.hpp>
#include <distrun/runtime/rpc/session/meeting.hpp>

#include "session_ranks.hpp"

namespace distrun::rpc {
namespace inline_function_test {

int one() { return 1; }
DISTRUN_RPC(one)

// What it does, as the name of an inline function says.
int calls() { return rpc_sync(1, one); }
int calls_later() {
  rpc_async(1, one);
  return 0;
}
int calls_itself() { return rpc_sync(0, one); }
int waits() { return future::Future<int>().wait(); }
int waits_for_what_is_done() {
  future::Future<int> done;
  done.set_result(3);
  return done.wait();
}
int meets() {
  barrier({"worker0", "worker1"});
  return 0;
}
int ends_the_session() {
  shutdown({.graceful = false});
  return 0;
}
int catches_it() {
  try {
    return calls();
  } catch (const Error&) {
    return 4;
  }
}
DISTRUN_RPC_INLINE(calls)
DISTRUN_RPC_INLINE(calls_later)
DISTRUN_RPC_INLINE(calls_itself)
DISTRUN_RPC_INLINE(waits)
DISTRUN_RPC_INLINE(waits_for_what_is_done)
DISTRUN_RPC_INLINE(meets)
DISTRUN_RPC_INLINE(ends_the_session)
DISTRUN_RPC_INLINE(catches_it)

struct Caller {
  int number = 0;
  int call() const { return rpc_sync(1, one); }
};
[[maybe_unused]] const auto caller =
    RegisterClass<Caller>("InlineCaller")
        .constructor<>()
        .by_value([](const Caller& object) { return object.number; }, [](int number) { return Caller{number}; })
        .method<Execution::Inline>("call", &Caller::call);

}  // namespace inline_function_test

namespace {

using namespace inline_function_test;

// The errors that worker1 gets of inline functions of worker0, each after the other.
std::vector<std::string> errors_of(const std::vector<std::function<void()>>& calls) {
  const Ranks ranks(2);
  std::vector<std::string> errors;
  CHECK(ranks.run([&](int rank) {
    init_rpc(ranks.options(rank));
    if (rank == 1) {
      for (const auto& each : calls) errors.push_back(text_of_error(each));
    }
    shutdown();
  }) == no_errors(2));
  return errors;
}

std::string refusal(const std::string& name, const std::string& doing) {
  return "the inline function \"" + name + "\" " + doing +
         ": it runs on the thread that reads messages, which must not wait for other ranks; register it as an ordinary "
         "function, with DISTRUN_RPC or without Execution::Inline";
}

TEST_CASE("an inline function that makes a call, or waits, gets an error that names it") {
  const std::vector<std::string> errors = errors_of({
      [] { rpc_sync(0, calls); },
      [] { rpc_sync(0, calls_later); },
      [] { rpc_sync(0, calls_itself); },
      [] { rpc_sync(0, waits); },
      [] { rpc_sync(0, meets); },
      [] { rpc_sync(0, ends_the_session); },
  });
  CHECK(errors == std::vector<std::string>{
                      refusal("calls", "makes a call"),
                      refusal("calls_later", "makes a call"),
                      refusal("calls_itself", "makes a call"),
                      refusal("waits", "waits for an incomplete future"),
                      refusal("meets", "meets other workers"),
                      refusal("ends_the_session", "ends the session"),
                  });
}

TEST_CASE("an inline function must not call on a handler's thread either, nor when it is called by its own rank") {
  const auto object = std::make_shared<Caller>();
  const std::vector<std::string> errors = errors_of({
      [&] { rpc_sync<int>(0, "InlineCaller.call", object); },
      [] { rpc_sync(1, calls); },
  });
  CHECK(errors ==
        std::vector<std::string>{refusal("InlineCaller.call", "makes a call"), refusal("calls", "makes a call")});
}

TEST_CASE("an inline function may take the value of a completed future, and continue after a refusal") {
  CHECK(errors_of({
            [] { CHECK(rpc_sync(0, waits_for_what_is_done) == 3); },
            [] { CHECK(rpc_sync(0, catches_it) == 4); },
            [] { CHECK(rpc_sync(0, one) == 1); },
        }) == std::vector<std::string>(3));
}

TEST_CASE("a thread runs no inline function once its scope has ended") {
  const std::string outer = "outer", inner = "inner";
  {
    const core::InlineFunctionScope scope(&outer);
    {
      const core::InlineFunctionScope inside(&inner);
      CHECK(*core::inline_function() == "inner");
    }
    CHECK(*core::inline_function() == "outer");
    CHECK_THROWS_AS(core::refuse_in_inline_function("makes a call", {}), Error);
  }
  CHECK(core::inline_function() == nullptr);
  core::refuse_in_inline_function("makes a call", {});
}

}  // namespace
}  // namespace distrun::rpc
