// All orders in which workers of an elastic group join, leave, are killed and return: each call ends with its own
// answer, or with an error if its worker has ended, and at last each worker knows those that are there.
#include <catch2/catch.hpp>

#include "incarnations_model.hpp"

namespace distrun::rpc::incarnations {
namespace {

using distrun::testing::Walked;

struct Bounds {
  int workers = 2;
  int calls = 0, kills = 0, leaves = 0, timeouts = 0;
};

// All workers are there at first, and know each other.
Walked walk_group(const Bounds& bounds, Flaw flaw) {
  Group first;
  const auto workers = static_cast<std::size_t>(bounds.workers);
  for (std::size_t id = 0; id < workers; ++id) {
    first.log[id] = first.lives[id].incarnation = first.lives[id].is_alive = 1;
    for (std::size_t other = 0; other < workers; ++other) first.lives[id].known[other] = other == id ? 0 : 1;
  }
  first.calls_left = static_cast<std::uint8_t>(bounds.calls);
  first.kills_left = static_cast<std::uint8_t>(bounds.kills);
  first.leaves_left = static_cast<std::uint8_t>(bounds.leaves);
  first.timeouts_left = static_cast<std::uint8_t>(bounds.timeouts);
  return distrun::testing::Walk<Group, GroupModel>(GroupModel(first, flaw)).run();
}

}  // namespace

TEST_CASE("each call gets its own answer or the right error, in every order of workers that end and return") {
  const auto check = [](const Bounds& bounds) {
    const Walked walked = walk_group(bounds, Flaw::None);
    INFO(bounds.workers << " workers, " << bounds.calls << " calls, " << bounds.kills << " kills, " << bounds.leaves
                        << " leaves, " << bounds.timeouts << " timeouts: " << walked.states << " states, "
                        << walked.ends << " ends\n"
                        << walked.violation);
    CHECK(walked.violation.empty());
    CHECK(walked.ends > 0);
  };
  check({.workers = 2, .calls = 2, .kills = 2});
  check({.workers = 2, .calls = 2, .kills = 1, .leaves = 1, .timeouts = 1});
  check({.workers = 2, .calls = 1, .kills = 1, .leaves = 2});
  check({.workers = 3, .calls = 1, .kills = 1, .leaves = 1});
}

TEST_CASE("the model of incarnations finds the errors that they prevent") {
  const auto violation = [](Flaw flaw) {
    return walk_group({.workers = 2, .calls = 2, .kills = 1, .leaves = 1}, flaw).violation;
  };
  CHECK_THAT(violation(Flaw::AnswersById), Catch::StartsWith("a call has got the answer of another call"));
  CHECK_THAT(violation(Flaw::ReadsById), Catch::StartsWith("a call has reached another worker than its own"));
  CHECK_THAT(violation(Flaw::SendsById), Catch::StartsWith("a call has reached another worker than its own"));
  CHECK_THAT(violation(Flaw::LosesById), Catch::StartsWith("a call has failed, and its worker is there"));
  CHECK_THAT(violation(Flaw::RemovesById), Catch::StartsWith("a worker is missing on a list"));
  CHECK_THAT(violation(Flaw::ForgetsRemoved), Catch::StartsWith("a worker that has ended is still on a list"));
  CHECK_THAT(violation(Flaw::KeepsCallsOfReplaced), Catch::StartsWith("a call never ends"));
}

}  // namespace distrun::rpc::incarnations
