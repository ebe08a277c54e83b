#include "model/explore.hpp"

#include <algorithm>
#include <deque>
#include <iomanip>
#include <sstream>
#include <vector>

#include "model/visited.hpp"

namespace distrun::rref::model {
namespace {

std::string story(World& world, const std::vector<Action>& actions, const std::string& violation) {
  State state = world.first();
  std::string text = violation + "\n";
  int number = 0;
  for (const Action& each : actions) {
    text += std::to_string(++number) + ". " + world.text(state, each) + "\n";
    std::string ignored;
    state = world.take(state, each, ignored);
  }
  return text + "and then:\n" + world.text(state);
}

// Breadth first: visits states in the order in which they were found, by their number.
class Exploration {
 public:
  Exploration(const Bounds& bounds, std::size_t most) : world_(bounds), most_(most) {}

  Explored run() {
    meet(world_.first(), 0, {});
    while (!frontier_.empty() && found_.violation.empty() && found_.is_complete) {
      const State state = std::move(frontier_.front());
      frontier_.pop_front();
      if (seen_ == level_end_) {
        ++found_.depth;
        level_end_ = came_.size();
      }
      look_at(state, seen_++);
    }
    found_.states = visited_.size();
    found_.nodes = world_.pool().nodes();
    return found_;
  }

 private:
  struct Came {
    std::uint32_t from;
    Action by;
  };

  void look_at(const State& state, std::size_t number) {
    const std::vector<Action> actions = world_.actions(state, true);
    if (actions.empty()) {
      ++found_.ends;
      const std::string leftovers = world_.leftovers(state);
      if (!leftovers.empty()) return tell(leftovers, number, nullptr);
    }
    for (const Action& each : actions) {
      ++found_.transitions;
      std::string violation;
      const State next = world_.take(state, each, violation);
      if (!violation.empty()) return tell(violation, number, &each);
      meet(next, number, each);
    }
  }

  void meet(const State& state, std::size_t from, const Action& by) {
    if (!visited_.add(state.key())) return;
    came_.push_back({static_cast<std::uint32_t>(from), by});
    frontier_.push_back(state);
    if (visited_.size() >= most_) found_.is_complete = false;
  }

  void tell(const std::string& violation, std::size_t number, const Action* last) {
    std::vector<Action> actions;
    if (last != nullptr) actions.push_back(*last);
    for (; number != 0; number = came_[number].from) actions.push_back(came_[number].by);
    std::reverse(actions.begin(), actions.end());
    found_.violation = story(world_, actions, violation);
  }

  World world_;
  const std::size_t most_;
  Visited visited_;
  std::deque<State> frontier_;
  std::vector<Came> came_;
  std::size_t seen_ = 0;
  std::size_t level_end_ = 1;
  Explored found_;
};

// Two of three steps deliver a packet, if one is in flight; one of twelve others is a drop, so that worlds grow first.
const Action& choose(const std::vector<Action>& actions, base::Rng& rng) {
  const auto is_drop = [](const Action& each) {
    return each.kind == ActionKind::Die ||
           (each.kind == ActionKind::Step && (each.step == StepKind::DropHeld || each.step == StepKind::DropValue));
  };
  const auto is_delivery = [](const Action& each) {
    return each.kind == ActionKind::Step && each.step == StepKind::Deliver;
  };
  const bool wants_delivery = rng.below(3) != 0;
  const bool wants_drop = rng.below(12) == 0;
  std::vector<const Action*> wanted;
  for (const Action& each : actions) {
    if (is_delivery(each) == wants_delivery && is_drop(each) == (wants_drop && !wants_delivery))
      wanted.push_back(&each);
  }
  return wanted.empty() ? actions[rng.below(actions.size())] : *wanted[rng.below(wanted.size())];
}

}  // namespace

Explored explore(const Bounds& bounds, std::size_t most) { return Exploration(bounds, most).run(); }

std::string text(const Explored& explored, const Bounds& bounds, double seconds) {
  std::ostringstream line;
  line << (explored.is_complete ? "explored " : "gave up after ") << explored.states << " states (" << explored.ends
       << " ends, " << explored.nodes << " of single workers), " << explored.transitions << " transitions, depth "
       << explored.depth << ", in " << std::fixed << std::setprecision(1) << seconds << " s: " << text(bounds);
  return line.str();
}

Explored walk(const Bounds& bounds, base::Rng& rng) {
  World world(bounds);
  Explored found;
  State state = world.first();
  std::vector<Action> taken;
  while (true) {
    const std::vector<Action> actions = world.actions(state, false);
    if (actions.empty()) break;
    taken.push_back(choose(actions, rng));
    State next = world.take(state, taken.back(), found.violation);
    if (!found.violation.empty()) break;
    state = std::move(next);
  }
  found.transitions = taken.size();
  found.depth = taken.size();
  if (found.violation.empty()) found.violation = world.leftovers(state);
  if (!found.violation.empty()) found.violation = story(world, taken, found.violation);
  return found;
}

}  // namespace distrun::rref::model
