#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <thread>

#include <distrun/common/base/throw_stack.hpp>

using distrun::base::ThrowStack;

// Cold, so that the compiler does not move the throw to a separate part with another start address.
#define THROWER __attribute__((noinline, cold)) void

namespace {

using Pcs = std::vector<std::uint64_t>;

volatile int depth_left = 0;

THROWER throw_int() { throw 7; }
THROWER throw_in_library() { (void)std::map<int, int>().at(3); }
THROWER throw_deep() {
  if (depth_left == 0) throw std::runtime_error("deep");
  depth_left = depth_left - 1;
  throw_deep();
  depth_left = depth_left + 1;  // prevents a tail call
}
int throw_for_c(const void*, const void*) { throw std::logic_error("through C"); }

template <class Function>
bool is_in(Function* function, std::uint64_t pc) {
  return _Unwind_FindEnclosingFunction(reinterpret_cast<void*>(pc)) == reinterpret_cast<void*>(function);
}

template <class Function>
std::ptrdiff_t frames_of(Function* function, const Pcs& pcs) {
  return std::count_if(pcs.begin(), pcs.end(), [&](std::uint64_t pc) { return is_in(function, pc); });
}

template <class Action>
Pcs stack_of(Action action) {
  ThrowStack stack;
  try {
    stack.watch(action);
  } catch (...) {
  }
  return stack.pcs();
}

}  // namespace

TEST_CASE("an exception that leaves a watched call has the stack of its throw, and none is kept outside") {
  const Pcs pcs = stack_of([] { throw_int(); });
  REQUIRE(pcs.size() >= 2);
  CHECK(pcs.size() <= 5);  // the throwing function, its callers, and the action: two without optimisation
  CHECK(frames_of(throw_int, pcs) == 1);
  CHECK((is_in(throw_int, pcs[0]) || is_in(throw_int, pcs[1])));
}

TEST_CASE("the type and the library that throws do not matter") {
  CHECK(frames_of(throw_in_library, stack_of([] { throw_in_library(); })) == 1);
  const Pcs through_c = stack_of([] {
    int numbers[] = {2, 1};
    std::qsort(numbers, 2, sizeof(int), throw_for_c);
  });
  CHECK(frames_of(throw_for_c, through_c) == 1);
}

TEST_CASE("an exception that user code catches leaves no stack") {
  const Pcs pcs = stack_of([] {
    try {
      throw_int();
    } catch (int) {
    }
  });
  CHECK(pcs.empty());
}

TEST_CASE("an exception after one that was caught has its own stack") {
  const Pcs pcs = stack_of([] {
    try {
      throw_in_library();
    } catch (const std::out_of_range&) {
      throw_int();
    }
  });
  CHECK(frames_of(throw_int, pcs) == 1);
  CHECK(frames_of(throw_in_library, pcs) == 0);
}

TEST_CASE("a rethrown exception has the stack of the last throw") {
  const Pcs pcs = stack_of([] {
    try {
      throw_int();
    } catch (...) {
      throw;
    }
  });
  CHECK_FALSE(pcs.empty());
  CHECK(frames_of(throw_int, pcs) == 0);
}

TEST_CASE("exceptions within destructors do not change the stack of the exception that runs them") {
  struct Careful {
    ~Careful() {
      CHECK(frames_of(throw_in_library, stack_of([] { throw_in_library(); })) == 1);
      try {
        throw_in_library();
      } catch (...) {
      }
    }
  };
  const Pcs pcs = stack_of([] {
    const Careful careful;
    throw_int();
  });
  CHECK(frames_of(throw_int, pcs) == 1);
  CHECK(frames_of(throw_in_library, pcs) == 0);
}

TEST_CASE("a deep stack keeps the innermost and the outermost frames, with a 0 between them") {
  depth_left = 1000;
  const Pcs pcs = stack_of([] {
    throw_deep();
    depth_left = 0;  // prevents a tail call
  });
  REQUIRE(pcs.size() == ThrowStack::kPcsMax);
  CHECK(std::count(pcs.begin(), pcs.end(), 0U) == 1);
  CHECK(pcs[96] == 0);
  CHECK(is_in(throw_deep, pcs[95]));
  CHECK(is_in(throw_deep, pcs[97]));
  CHECK_FALSE(is_in(throw_deep, pcs.back()));
  depth_left = 20;
  CHECK(frames_of(throw_deep, stack_of([] { throw_deep(); })) == 21);
}

TEST_CASE("a stack that is used again has the second throw only") {
  ThrowStack stack;
  auto throws = [] { throw_int(); };
  CHECK_THROWS_AS(stack.watch(throws), int);
  CHECK_FALSE(stack.pcs().empty());
  auto passes = [] {};
  stack.watch(passes);
  CHECK(stack.pcs().empty());
}

TEST_CASE("threads that throw at the same time have separate stacks") {
  std::vector<std::thread> threads;
  std::vector<char> right(8);
  for (std::size_t i = 0; i < right.size(); ++i) {
    threads.emplace_back([&right, i] {
      bool all = true;
      for (int n = 0; n < 200; ++n) {
        const Pcs pcs = i % 2 == 0 ? stack_of([] { throw_int(); }) : stack_of([] { throw_in_library(); });
        all = all && frames_of(throw_int, pcs) == (i % 2 == 0 ? 1 : 0);
        all = all && frames_of(throw_in_library, pcs) == (i % 2 == 0 ? 0 : 1);
      }
      right[i] = all ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(std::count(right.begin(), right.end(), 1) == 8);
}
