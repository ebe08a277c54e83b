// Events that last until a future is done.
#include <catch2/catch.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/profiler/profile.hpp>
#include <distrun/runtime/profiler/record_function.hpp>

namespace distrun::profiler {
namespace {

std::size_t count_of_events(const Profile& profile) { return profile.events().size(); }

TEST_CASE("a scope that waits for a future ends with it, before its value is visible") {
  const Profile profile;
  const future::Future<int> made;
  std::optional<future::Future<int>> after;
  {
    const RecordFunction scope("forward", "batch 3");
    after = scope.call_end_callbacks_on_future(made);
  }
  CHECK(count_of_events(profile) == 0);
  made.set_result(7);
  CHECK(after->wait() == 7);
  REQUIRE(count_of_events(profile) == 1);
  CHECK(profile.events()[0].name == "forward");
  CHECK(profile.events()[0].notes == std::vector<std::pair<std::string, std::string>>{{"arguments", "batch 3"}});
}

TEST_CASE("a second future is refused, and the first one's error is that of the new one") {
  const Profile profile;
  const RecordFunction scope("forward");
  const future::Future<void> made;
  const auto after = scope.call_end_callbacks_on_future(made);
  CHECK_THROWS_WITH(scope.call_end_callbacks_on_future(made), Catch::Contains("can only be called once."));
  made.set_error(Error(ErrorKind::Failed, "Expected error"));
  CHECK_THROWS_WITH(after.wait(), Catch::Contains("Expected error"));
  CHECK(count_of_events(profile) == 1);
}

TEST_CASE("handles end once, however often they are ended, and have no effect without a profile") {
  {
    const Profile profile;
    const RecordHandle handle = record_function_enter("foo");
    record_function_exit(handle);
    record_function_exit(handle);
    CHECK(count_of_events(profile) == 1);
    const RecordHandle other = record_function_enter("bar");
    const future::Future<int> made;
    const auto after = call_end_callbacks_on_future(other, made);
    record_function_exit(other);
    CHECK(count_of_events(profile) == 1);
    made.set_result(1);
    CHECK(after.wait() == 1);
    CHECK(count_of_events(profile) == 2);
  }
  const RecordHandle nothing = record_function_enter("nothing");
  const future::Future<int> made;
  const auto after = call_end_callbacks_on_future(nothing, made);
  made.set_result(2);
  CHECK(after.wait() == 2);
  record_function_exit(nothing);
}

}  // namespace
}  // namespace distrun::profiler
