// Scopes in which events are recorded by name: their owners, order, and number.
#include <catch2/catch.hpp>

#include <unistd.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <distrun/common/base/thread.hpp>
#include <distrun/runtime/profiler/profile.hpp>
#include <distrun/runtime/profiler/span.hpp>

namespace distrun::profiler {
namespace {

using Names = std::vector<std::string>;

Names names_of(const Profile& profile) {
  Names names;
  for (const Event& each : profile.events()) names.push_back(each.name);
  return names;
}

void on_another_thread(const std::function<void()>& body) { base::Thread("other", body).join(); }

TEST_CASE("events are listed in the order of their beginnings, each nested in the enclosing one") {
  Profile profile;
  {
    const Span outer("outer");
    { const Span inner("inner"); }
    { const Span second("second"); }
  }
  const Events events = profile.events();
  REQUIRE(names_of(profile) == Names{"outer", "inner", "second"});
  for (const Event& each : events) {
    CHECK(each.begin <= each.end);
    CHECK(each.thread == ::gettid());
  }
  CHECK(events[0].begin <= events[1].begin);
  CHECK(events[1].end <= events[2].begin);
  CHECK(events[2].end <= events[0].end);
}

TEST_CASE("an event that continues is recorded once, when it ends") {
  Profile profile;
  Span span("goes on");
  CHECK(profile.events().empty());
  span.end();
  span.end();
  CHECK(names_of(profile) == Names{"goes on"});
}

TEST_CASE("the innermost of nested scopes records") {
  Profile outer;
  { const Span span("before"); }
  {
    const Profile inner;
    { const Span span("within"); }
    CHECK(names_of(inner) == Names{"within"});
  }
  { const Span span("after"); }
  CHECK(names_of(outer) == Names{"before", "after"});
}

// Without a profile a span only makes this check: it has no recorder, reads no clock and keeps no name.
TEST_CASE("without a profile nothing is recorded") {
  REQUIRE(core::thread_state().profiler == nullptr);
  CHECK_FALSE(Span("before").is_recorded());
  Profile profile;
  CHECK(Span("within").is_recorded());
  profile.end();
  profile.end();
  CHECK(core::thread_state().profiler == nullptr);
  CHECK_FALSE(Span("after").is_recorded());
  CHECK(names_of(profile) == Names{"within"});
}

TEST_CASE("scopes of different threads are independent") {
  Profile profile;
  on_another_thread([] {
    CHECK_FALSE(Span("alone").is_recorded());
    const Profile own;
    { const Span span("own"); }
    CHECK(names_of(own) == Names{"own"});
  });
  { const Span span("mine"); }
  CHECK(names_of(profile) == Names{"mine"});
}

TEST_CASE("a thread that continues under the state records, with its own number, until the scope is over") {
  Profile profile;
  const core::ThreadState state = core::thread_state();
  std::int32_t thread = 0;
  on_another_thread([&] {
    const core::ThreadStateGuard guard(state);
    thread = ::gettid();
    const Span span("goes on");
  });
  profile.end();
  on_another_thread([&] {
    const core::ThreadStateGuard guard(state);
    CHECK_FALSE(Span("late").is_recorded());
  });
  REQUIRE(names_of(profile) == Names{"goes on"});
  CHECK(profile.events()[0].thread == thread);
}

TEST_CASE("an event may end on another thread, and after its scope") {
  Profile profile;
  Span span("moved");
  profile.end();
  on_another_thread([moved = std::make_shared<Span>(std::move(span))] { moved->end(); });
  CHECK_FALSE(span.is_recorded());
  REQUIRE(names_of(profile) == Names{"moved"});
  CHECK(profile.events()[0].thread == ::gettid());
  CHECK(profile.events()[0].is_async);
}

TEST_CASE("an event may outlive its profile") {
  auto profile = std::make_unique<Profile>();
  Span span("late");
  profile.reset();
  span.end();
  CHECK_FALSE(span.is_recorded());
}

TEST_CASE("a name may be set later, and without one there is no event") {
  const Profile profile;
  { const Span span; }
  {
    Span span;
    span.set_name("later");
  }
  CHECK(names_of(profile) == Names{"later"});
}

TEST_CASE("an event that is dropped is not recorded, and notes about an event are in it") {
  const Profile profile;
  {
    Span span("dropped");
    span.drop();
  }
  {
    Span span("kept");
    span.add_note("size", "3");
    span.set_async();
  }
  REQUIRE(names_of(profile) == Names{"kept"});
  CHECK(profile.events()[0].notes == std::vector<std::pair<std::string, std::string>>{{"size", "3"}});
  CHECK(profile.events()[0].is_async);
  Span nothing;
  nothing.drop();
  CHECK_FALSE(nothing.is_recorded());
}

TEST_CASE("scopes that end out of order do not disturb each other") {
  auto outer = std::make_unique<Profile>();
  auto inner = std::make_unique<Profile>();
  outer.reset();
  { const Span span("of the inner one"); }
  CHECK(names_of(*inner) == Names{"of the inner one"});
  inner.reset();
  CHECK_FALSE(Span("of none").is_recorded());
  core::thread_state().profiler = nullptr;
}

TEST_CASE("events beyond the limit are counted") {
  Profile profile({.limit = 2});
  for (const char* const name : {"a", "b", "c", "d", "e"}) const Span span(name);
  CHECK(names_of(profile) == Names{"a", "b"});
  CHECK(profile.not_kept() == 3);
}

TEST_CASE("many threads record concurrently") {
  constexpr int kThreads = 8, kEach = 500;
  Profile profile({.limit = kThreads * kEach - 10});
  {
    std::vector<base::Thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back("recorder", [state = core::thread_state()] {
        const core::ThreadStateGuard guard(state);
        for (int each = 0; each < kEach; ++each) const Span span("one of many");
      });
    }
  }
  CHECK(profile.events().size() == kThreads * kEach - 10);
  CHECK(profile.not_kept() == 10);
}

}  // namespace
}  // namespace distrun::profiler
