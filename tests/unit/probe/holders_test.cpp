#include <catch2/catch.hpp>

#include "holders.hpp"

using namespace distrun;
using namespace distrun::probe;
using wire::WaitObject;

namespace {

const NamedStack kGuarded{{"syscall", "cxa_guard_acquire", "settings", "main"}, 2};
const NamedStack kInHandler{{"pause", "handler", "malloc", "fill", "main"}, 1};
const NamedStack kElsewhere{{"pause", "main"}, 1};

wire::ProcessStacks process_with(WaitObject object, const std::string& name, std::size_t threads) {
  wire::ProcessStacks process;
  process.pid = 10;
  for (std::size_t i = 0; i < threads; ++i) {
    wire::ThreadStack& thread = process.threads.emplace_back();
    thread.task.tid = 10 + static_cast<int>(i);
    thread.task.name = "t" + std::to_string(i);
  }
  process.threads[0].wait.object = object;
  process.threads[0].wait.name = name;
  process.threads[0].wait.enders = {{10, 0, "10 (t0)"}};
  return process;
}

// Returns the thread that can end the wait of the first; 0: any.
int holder_in(wire::ProcessStacks process, const std::vector<NamedStack>& stacks) {
  name_holders(stacks, process);
  REQUIRE(process.threads[0].wait.enders.size() == 1);
  return process.threads[0].wait.enders[0].tid;
}

wire::ProcessStacks guarded(std::size_t threads) {
  return process_with(WaitObject::StaticGuard, "the initialisation of a static variable", threads);
}

}  // namespace

TEST_CASE("a static variable is initialised by the thread that is inside of its function") {
  const NamedStack inside{{"pause", "load", "settings", "main"}, 1};
  CHECK(holder_in(guarded(3), {kGuarded, kElsewhere, inside}) == 12);
}

TEST_CASE("a thread that initialises a static variable of its own waits for itself") {
  const NamedStack recursive{{"syscall", "cxa_guard_acquire", "settings", "load", "settings", "main"}, 2};
  CHECK(holder_in(guarded(2), {recursive, kElsewhere}) == 10);
}

TEST_CASE("threads that wait for the same static variable do not hold it") {
  wire::ProcessStacks process = guarded(2);
  process.threads[1].wait = process.threads[0].wait;
  CHECK(holder_in(process, {kGuarded, kGuarded}) == 0);
}

TEST_CASE("if several threads may hold it, none is named") {
  const NamedStack inside{{"pause", "load", "settings", "main"}, 1};
  CHECK(holder_in(guarded(3), {kGuarded, inside, inside}) == 0);
}

TEST_CASE("the holder of a call_once has it on its stack") {
  const NamedStack waiter{{"syscall", "pthread_once", "std::call_once", "set_up", "main"}, 3};
  const NamedStack holder{{"pause", "load", "std::call_once", "set_up", "main"}, 1};
  const NamedStack other{{"pause", "load", "set_up", "main"}, 1};
  const wire::ProcessStacks process = process_with(WaitObject::StaticGuard, "std::call_once", 3);
  CHECK(holder_in(process, {waiter, holder, other}) == 11);
  CHECK(holder_in(process, {waiter, kElsewhere, other}) == 0);
}

TEST_CASE("the lock of malloc() is held by the thread that is inside of it") {
  const NamedStack waiter{{"lll_lock_wait_private", "malloc", "main"}, 2};
  const wire::ProcessStacks process = process_with(WaitObject::HeapLock, "the lock of malloc()", 3);
  CHECK(holder_in(process, {waiter, kInHandler, kElsewhere}) == 11);
  const NamedStack itself{{"lll_lock_wait_private", "malloc", "handler", "restore_rt", "malloc", "main"}, 2};
  CHECK(holder_in(process, {itself, kElsewhere, kElsewhere}) == 10);
}
