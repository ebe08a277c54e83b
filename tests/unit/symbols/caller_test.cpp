// Finds the user's source line for a call site.
#include <catch2/catch.hpp>

#include <string>
#include <thread>

#include <distrun/runtime/symbols/caller.hpp>

namespace distrun::symbols {
namespace {

struct Taken {
  core::CallSite site;
  int line;
};

__attribute__((noinline)) Taken taken_here() {
  const int line = __LINE__ + 1;
  return {core::call_site({}), line};
}

std::string line_text(int line) { return " at " __FILE__ ":" + std::to_string(line); }

std::string name_of_formula(const void* name) { return static_cast<const char*>(name); }

TEST_CASE("a call site without a line is that of the innermost call from user code") {
  const Taken first = taken_here();
  CHECK(place_text(first.site) == line_text(first.line));
  CHECK(location_of(first.site).line == static_cast<std::uint32_t>(first.line));
  CHECK(std::string(location_of(first.site).file) == __FILE__);
}

TEST_CASE("all calls of user code are listed, innermost first") {
  const Taken taken = taken_here();
  const int line = __LINE__ - 1;
  const std::vector<std::string> calls = users_calls(*taken.site.stack);
  REQUIRE(calls.size() >= 2);
  CHECK(calls[0] == "distrun::symbols::(anonymous namespace)::taken_here()" + line_text(taken.line));
  CHECK_THAT(calls[1], Catch::EndsWith(line_text(line)));
}

TEST_CASE("the same stack is the same object, and another stack is another object") {
  const core::CallStack* stacks[3];
  for (const core::CallStack*& each : stacks) each = core::call_stack();
  CHECK(stacks[0] == stacks[1]);
  CHECK(stacks[1] == stacks[2]);
  CHECK(stacks[0] != core::call_stack());
}

// Uses `bytes` bytes of its frame.
__attribute__((noinline)) core::CallSite in_frame_of(std::size_t bytes, const core::CallSite* (*next)()) {
  auto* const there = static_cast<volatile char*>(__builtin_alloca(bytes));
  there[0] = 1;
  const core::CallSite site = *next();
  return there[0] == 1 ? site : core::CallSite{};
}
const core::CallSite* taken_last() {
  static core::CallSite last;
  last = core::call_site({});
  return &last;
}

TEST_CASE("frames with a size that changes from call to call are found, too") {
  for (const std::size_t bytes : {16, 4096, 100'000, 32, 16}) {
    const core::CallSite site = in_frame_of(bytes, taken_last);
    REQUIRE(site.stack != nullptr);
    CHECK(site.stack->pcs().size() > 3);
    CHECK_THAT(place_text(site), Catch::Contains(" at " __FILE__ ":"));
  }
}

TEST_CASE("a place given by the caller is kept") {
  const core::CallSite site = core::call_site({"ring.cpp", 34});
  CHECK(site.stack == nullptr);
  CHECK(place_text(site) == " at ring.cpp:34");
}

TEST_CASE("a step of a user's call has its own name, and without a call the given line") {
  const Taken begun = taken_here();
  core::CallSite site;
  std::thread([&] {
    const core::StepFor step(begun.site.stack, "MulBackward0", name_of_formula);
    site = core::call_site({"ring.cpp", 34});
  }).join();
  CHECK(place_text(site) == " in MulBackward0 at ring.cpp:34");
  site.location = {};
  CHECK(place_text(site) == " in MulBackward0" + line_text(begun.line));
}

TEST_CASE("an empty call site has no text") {
  CHECK(place_text({}) == "");
  CHECK(location_of({}).line == 0);
}

}  // namespace
}  // namespace distrun::symbols
