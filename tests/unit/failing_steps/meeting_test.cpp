// Meetings of two workers that are threads.
#include <catch2/catch.hpp>

#include <new>
#include <string>

#include <distrun/runtime/rpc/session/meeting.hpp>

#include "unit/failing_steps/attempt.hpp"
#include "unit/failing_steps/workers.hpp"

namespace distrun {
namespace {

using namespace testing;

const std::string kObject(60, 'v');  // no value of a string within itself

std::string object_of(int rank, const std::string& meeting) { return kObject + meeting + std::to_string(rank); }

void gather(int rank, const std::string& meeting) {
  const auto all = rpc::all_gather(rpc::to_value(object_of(rank, meeting)));
  for (int other = 0; other < 2; ++other) {
    const rpc::Value& object = all.at("worker" + std::to_string(other));
    require(rpc::from_value<std::string>(object) == object_of(other, meeting), "the objects are those of this meeting");
  }
}

// After std::bad_alloc the worker has not begun the meeting, and repeats it.
void gather_or_fail(const Attempt& attempt, int rank) {
  bool has_begun = false;
  while (!has_begun) {
    has_begun = true;
    attempt.may_fail([&] {
      try {
        gather(rank, "first");
      } catch (const std::bad_alloc&) {
        has_begun = false;
        throw;
      }
    });
  }
}

void meet(const std::string& agent, bool is_first) {
  every_step_may_fail([&](Attempt& attempt) {
    const Workers workers(agent, 2);
    workers.init_all();
    if (!is_first) workers.on_all([](int rank) { gather(rank, "zeroth"); });
    workers.on_all([&](int rank) { gather_or_fail(attempt, rank); });
    workers.on_all([](int rank) { gather(rank, "second"); });
    workers.shut_down_all();
  });
}

TEST_CASE("the first meeting succeeds or fails for all, and the next one has its own objects") { meet("inproc", true); }
TEST_CASE("a meeting succeeds or fails for all, and the next one has its own objects") { meet("inproc", false); }

}  // namespace
}  // namespace distrun
