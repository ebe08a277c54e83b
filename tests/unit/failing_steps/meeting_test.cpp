// Meetings of two workers that are threads.
#include <catch2/catch.hpp>

#include <atomic>
#include <map>
#include <new>
#include <string>

#include <distrun/runtime/rpc/session/meeting.hpp>

#include "unit/failing_steps/attempt.hpp"
#include "unit/failing_steps/workers.hpp"

namespace distrun {
namespace {

using namespace testing;

using Gathered = std::map<std::string, rpc::Value>;

const std::string kObject(60, 'v');  // no value of a string within itself

std::string object_of(int rank, const std::string& meeting) { return kObject + meeting + std::to_string(rank); }
Gathered gather(int rank, const std::string& meeting) {
  return rpc::all_gather(rpc::to_value(object_of(rank, meeting)));
}

void check(const Gathered& all, const std::string& meeting) {
  for (int rank = 0; rank < 2; ++rank) {
    const rpc::Value& object = all.at("worker" + std::to_string(rank));
    require(rpc::from_value<std::string>(object) == object_of(rank, meeting), "the objects are those of this meeting");
  }
}

// After std::bad_alloc the worker has not begun the meeting, and repeats it. Returns an empty map if it has failed.
Gathered gather_or_fail(const Attempt& attempt, const rpc::Value& object) {
  Gathered all;
  bool has_begun = false;
  while (!has_begun) {
    has_begun = true;
    attempt.may_fail([&] {
      try {
        all = rpc::all_gather(object);
      } catch (const std::bad_alloc&) {
        has_begun = false;
        throw;
      }
    });
  }
  return all;
}

void meet_or_fail(const Attempt& attempt, const Workers& workers) {
  const rpc::Value objects[] = {rpc::to_value(object_of(0, "first")), rpc::to_value(object_of(1, "first"))};
  Gathered gathered[2];
  workers.on_all([&](int rank) { gathered[rank] = gather_or_fail(attempt, objects[rank]); });
  for (const Gathered& all : gathered) {
    if (!all.empty()) check(all, "first");
  }
}

// Returns false if the connection was ended: then the session of both is over.
bool meet_again(const Workers& workers) {
  std::atomic<bool> have_met = true;
  workers.on_all([&](int rank) {
    try {
      check(gather(rank, "second"), "second");
    } catch (const Error& error) {
      require(std::string(error.what()).find("ended the connection") != std::string::npos, error.what());
      have_met = false;
    }
  });
  return have_met;
}

void meet(const std::string& agent, bool is_first) {
  every_step_may_fail([&](Attempt& attempt) {
    const Workers workers(agent, 2);
    workers.init_all();
    if (!is_first) workers.on_all([](int rank) { check(gather(rank, "zeroth"), "zeroth"); });
    meet_or_fail(attempt, workers);
    if (!meet_again(workers)) {
      workers.end_all();
      workers.init_all();
      require(meet_again(workers), "the workers meet in the next session");
    }
    workers.shut_down_all();
  });
}

TEST_CASE("the first meeting succeeds or fails for all, and the next one has its own objects") { meet("inproc", true); }
TEST_CASE("a meeting succeeds or fails for all, and the next one has its own objects") { meet("inproc", false); }

}  // namespace
}  // namespace distrun
