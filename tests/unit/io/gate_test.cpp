#include <catch2/catch.hpp>

#include <optional>

#include <distrun/common/base/error.hpp>
#include <distrun/common/io/gate.hpp>

#include "../support/forked.hpp"
#include "../support/loop.hpp"

using namespace distrun;
using namespace distrun::testing;
using io::Gate;
using io::Loop;
using io::OneShot;

TEST_CASE("a closed gate completes when the last pass is released") {
  Loop loop;
  Gate gate(loop);
  std::optional<Gate::Pass> first = gate.enter();
  std::optional<Gate::Pass> second = gate.enter();
  gate.close();
  bool closed = false;
  boost::asio::co_spawn(loop.context(), gate.closed(), [&](const std::exception_ptr&, bool) { closed = true; });
  run_ready(loop);
  CHECK_FALSE(closed);
  first.reset();
  run_ready(loop);
  CHECK_FALSE(closed);
  second.reset();
  CHECK(run_until(loop, [&] { return closed; }));
}

TEST_CASE("an empty gate that is closed completes at once, and closing it again changes nothing") {
  Loop loop;
  Gate gate(loop);
  gate.close();
  gate.close();
  CHECK(run_task(loop, gate.closed()));
}

TEST_CASE("a gate that was empty before is open until it is closed") {
  Loop loop;
  Gate gate(loop);
  { const Gate::Pass pass = gate.enter(); }
  const Gate::Pass again = gate.enter();
  CHECK_NOTHROW(gate.enter());
}

TEST_CASE("a closing gate cannot be entered") {
  Loop loop;
  Gate gate(loop);
  std::optional<Gate::Pass> inside = gate.enter();
  gate.close();
  ErrorKind kind = ErrorKind::Failed;
  try {
    gate.enter();
  } catch (const Error& error) {
    kind = error.kind();
  }
  CHECK(kind == ErrorKind::Cancelled);
}

TEST_CASE("a pass that was moved is released once") {
  Loop loop;
  Gate gate(loop);
  {
    Gate::Pass pass = gate.enter();
    const Gate::Pass moved = std::move(pass);
  }
  gate.close();
  CHECK(run_task(loop, gate.closed()));
}

TEST_CASE("destroying a gate that still has passes is a broken invariant") {
  CHECK(aborts([] {
    Loop loop;
    std::optional<Gate> gate(std::in_place, loop);
    const Gate::Pass inside = gate->enter();
    gate.reset();
  }));
}

TEST_CASE("a one-shot gives its value to a waiter, before and after it is set") {
  Loop loop;
  OneShot<std::string> shot(loop);
  CHECK_FALSE(shot.is_set());
  SECTION("set before the wait") { shot.set("value"); }
  SECTION("set during the wait") {
    loop.post([&] { shot.set("value"); });
  }
  CHECK(run_task(loop, shot.wait()) == "value");
}

TEST_CASE("a one-shot that is set twice is a broken invariant") {
  CHECK(aborts([] {
    Loop loop;
    OneShot<int> shot(loop);
    shot.set(1);
    shot.set(2);
  }));
}
