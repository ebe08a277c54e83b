// All orders of steps at a rank's door (door_model.hpp): in the end no message is unread and no call for a worker
// unanswered while all threads sleep. Also all orders of reporting the end of a link and closing the agent.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <iterator>

#include "door_model.hpp"

namespace distrun::agents::pipe::model {
namespace {

Thread thread_that(Does does, int left = 0) {
  Thread thread;
  thread.does = does;
  thread.is_first = does == Does::LookAtDoor;
  thread.left = static_cast<std::uint8_t>(left);
  return thread;
}

struct Scene {
  const char* name;
  bool has_begun;
  std::array<Thread, kModelThreads> threads;
};

const Scene kScenes[] = {
    {"a worker, and a peer that writes twice",
     true,
     {thread_that(Does::LookAtDoor), thread_that(Does::Write, 2), {}, {}, {}}},
    {"two workers, a peer that writes, and who calls a worker",
     true,
     {thread_that(Does::LookAtDoor),
      thread_that(Does::LookAtDoor),
      thread_that(Does::Write, 1),
      thread_that(Does::CallWorker),
      {}}},
    {"a worker, a thread that waits, and a peer that writes twice",
     true,
     {thread_that(Does::LookAtDoor), thread_that(Does::Help, 1), thread_that(Does::Write, 2), {}, {}}},
    {"a worker, two threads that wait, and a peer that writes",
     true,
     {thread_that(Does::LookAtDoor),
      thread_that(Does::Help),
      thread_that(Does::Help),
      thread_that(Does::Write, 1),
      {}}},
    {"a link that begins while a worker idles and a thread waits",
     false,
     {thread_that(Does::LookAtDoor),
      thread_that(Does::Help),
      thread_that(Does::Write, 1),
      thread_that(Does::Publish),
      {}}},
};

distrun::testing::Walked walk(const Scene& scene, Fault fault) {
  State first;
  first.threads = scene.threads;
  first.has_begun = first.is_published = first.is_polled = scene.has_begun;
  const DoorModel model(first, fault);
  return distrun::testing::Walk<State, DoorModel>(model).run();
}

TEST_CASE("no message is left unread and no call unheard, in every order of steps at the door") {
  for (const Scene& scene : kScenes) {
    const distrun::testing::Walked walked = walk(scene, Fault::None);
    INFO(scene.name << ": " << walked.states << " states, " << walked.ends << " ends\n" << walked.violation);
    CHECK(walked.violation.empty());
    CHECK(walked.ends > 0);
  }
}

TEST_CASE("the model of the door finds the errors that the protocol's rules prevent") {
  const auto is_seen = [](Fault fault) {
    return std::any_of(std::begin(kScenes), std::end(kScenes),
                       [&](const Scene& scene) { return !walk(scene, fault).violation.empty(); });
  };
  CHECK(is_seen(Fault::LooksAtOldLinks));
  CHECK(is_seen(Fault::LooksAtNothing));
  CHECK(is_seen(Fault::TrustsTheDoor));
  CHECK(is_seen(Fault::LeavesWhatWasLeft));
  CHECK(is_seen(Fault::ReadsTheDoorLate));
}

// ---- the end of a link, and of the agent

enum class TellerDoes : std::uint8_t { Enter, LookWhetherClosed, TakeEnd, Tell, Leave, Left };
enum class CloserDoes : std::uint8_t { Close, Wait, CloseLink, Destroy, Gone };

struct EndState {
  std::uint8_t is_closed = 0;
  std::uint8_t inside = 0;
  std::uint8_t is_told = 0;  // the link's end was taken
  std::uint8_t told_to_gone = 0;
  std::array<TellerDoes, 3> tellers{};
  CloserDoes closer{};
};
static_assert(sizeof(EndState) == 8);

// Threads that have detected the end of one link (reactor.cpp, tell_end()), and one that closes the agent and destroys
// it.
class EndModel {
 public:
  explicit EndModel(bool waits) : waits_(waits) {}

  EndState first() const { return {}; }
  std::string wrong(const EndState& state) const {
    return state.told_to_gone ? "an agent that is gone hears of the end" : "";
  }
  std::string wrong_end(const EndState& state) const { return is_goal(state) ? "" : "a thread waits for ever"; }
  bool is_goal(const EndState& state) const {
    return state.closer == CloserDoes::Gone && std::all_of(state.tellers.begin(), state.tellers.end(),
                                                           [](TellerDoes each) { return each == TellerDoes::Left; });
  }

  void add_steps(const EndState& state, std::vector<ModelStep<EndState>>& steps) const {
    for (std::size_t each = 0; each < state.tellers.size(); ++each) tell(state, each, steps);
    close(state, steps);
  }

 private:
  static void tell(const EndState& state, std::size_t teller, std::vector<ModelStep<EndState>>& steps) {
    EndState after = state;
    TellerDoes& does = after.tellers[teller];
    const char* what = "";
    switch (does) {
      case TellerDoes::Enter: what = "counts itself", ++after.inside, does = TellerDoes::LookWhetherClosed; break;
      case TellerDoes::LookWhetherClosed:
        what = "looks whether it is closed", does = state.is_closed ? TellerDoes::Leave : TellerDoes::TakeEnd;
        break;
      case TellerDoes::TakeEnd:
        what = "takes the end of the link", does = state.is_told ? TellerDoes::Leave : TellerDoes::Tell,
        after.is_told = 1;
        break;
      case TellerDoes::Tell:
        what = "tells it", does = TellerDoes::Leave, after.told_to_gone = state.closer == CloserDoes::Gone;
        break;
      case TellerDoes::Leave: what = "leaves", --after.inside, does = TellerDoes::Left; break;
      case TellerDoes::Left: return;
    }
    steps.push_back({what, static_cast<int>(teller), after});
  }

  void close(const EndState& state, std::vector<ModelStep<EndState>>& steps) const {
    EndState after = state;
    const char* what = "";
    switch (state.closer) {
      case CloserDoes::Close: what = "closes", after.is_closed = 1, after.closer = CloserDoes::Wait; break;
      case CloserDoes::Wait:
        if (waits_ && state.inside != 0) return;
        what = "has waited", after.closer = CloserDoes::CloseLink;
        break;
      case CloserDoes::CloseLink:
        what = "closes the link", after.is_told = 1, after.closer = CloserDoes::Destroy;
        break;
      case CloserDoes::Destroy: what = "is destroyed", after.closer = CloserDoes::Gone; break;
      case CloserDoes::Gone: return;
    }
    steps.push_back({what, -1, after});
  }

  const bool waits_;
};

TEST_CASE("no closed agent is notified of the end of a link, in every order of steps") {
  const auto walked = distrun::testing::Walk<EndState, EndModel>(EndModel(true)).run();
  INFO(walked.violation);
  CHECK(walked.violation.empty());
  CHECK(walked.ends > 0);
  const auto without = distrun::testing::Walk<EndState, EndModel>(EndModel(false)).run();
  CHECK_THAT(without.violation, Catch::StartsWith("an agent that is gone hears of the end"));
}

}  // namespace
}  // namespace distrun::agents::pipe::model
