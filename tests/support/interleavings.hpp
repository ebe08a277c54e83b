#pragma once
// Explores all orders in which a few threads can take their steps, breadth first, so that a violation is found with the
// fewest steps. A model lists the steps possible in a state; the result is text.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace distrun::testing {

// A possible step and the state that it leads to. `State` consists of plain bytes without padding.
template <class State>
struct ModelStep {
  const char* what = "";
  int thread = 0;
  State next{};
};

struct Walked {
  std::size_t states = 0;
  std::size_t ends = 0;   // states in which no thread can take a step
  std::string violation;  // the violation and the steps that lead to it; empty if there is no violation
};

// Explores a `Model`, which has:
//
//   State first() const
//   void add_steps(const State&, std::vector<ModelStep<State>>&) const
//   std::string wrong(const State&) const       describes a violation in any state; empty: no violation
//   std::string wrong_end(const State&) const   the same for a state in which no step is possible
//   bool is_goal(const State&) const            every state must be able to reach one of these
template <class State, class Model>
class Walk {
 public:
  explicit Walk(const Model& model) : model_(model) {}

  Walked run() {
    meet(model_.first(), 0, {});
    for (std::size_t at = 0; at < all_.size() && found_.violation.empty(); ++at) look_at(at);
    found_.states = all_.size();
    if (found_.violation.empty()) find_lost();
    return std::move(found_);
  }

 private:
  struct Met {
    State state;
    std::size_t from;
    ModelStep<State> by;
  };

  static std::string key_of(const State& state) {
    return std::string(reinterpret_cast<const char*>(&state), sizeof state);
  }

  void meet(const State& state, std::size_t from, const ModelStep<State>& by) {
    const auto [at, is_new] = numbers_.emplace(key_of(state), all_.size());
    if (is_new) all_.push_back({state, from, by});
    before_.resize(all_.size());
    if (all_.size() > 1) before_[at->second].push_back(static_cast<std::uint32_t>(from));
    const std::string wrong = is_new ? model_.wrong(state) : "";
    if (!wrong.empty()) tell(wrong, at->second);
  }

  void look_at(std::size_t at) {
    std::vector<ModelStep<State>> steps;
    model_.add_steps(all_[at].state, steps);
    if (steps.empty()) {
      ++found_.ends;
      const std::string wrong = model_.wrong_end(all_[at].state);
      if (!wrong.empty()) tell(wrong, at);
    }
    for (const ModelStep<State>& each : steps) {
      if (found_.violation.empty()) meet(each.next, at, each);
    }
  }

  // Searches backwards from the goals: a state that is not reached cannot lead to any goal.
  void find_lost() {
    std::vector<bool> leads(all_.size());
    std::deque<std::size_t> next;
    for (std::size_t at = 0; at < all_.size(); ++at) {
      if (!model_.is_goal(all_[at].state)) continue;
      leads[at] = true;
      next.push_back(at);
    }
    for (; !next.empty(); next.pop_front()) {
      for (const std::uint32_t from : before_[next.front()]) {
        if (leads[from]) continue;
        leads[from] = true;
        next.push_back(from);
      }
    }
    const auto lost = std::find(leads.begin(), leads.end(), false);
    if (lost != leads.end()) tell("it never ends well from here", static_cast<std::size_t>(lost - leads.begin()));
  }

  void tell(const std::string& wrong, std::size_t at) {
    std::vector<std::string> steps;
    for (; at != 0; at = all_[at].from) {
      steps.push_back("thread " + std::to_string(all_[at].by.thread) + ": " + all_[at].by.what);
    }
    found_.violation = wrong;
    for (auto each = steps.rbegin(); each != steps.rend(); ++each) found_.violation += "\n" + *each;
  }

  const Model& model_;
  std::vector<Met> all_;
  std::vector<std::vector<std::uint32_t>> before_;
  std::unordered_map<std::string, std::size_t> numbers_;
  Walked found_;
};

}  // namespace distrun::testing
