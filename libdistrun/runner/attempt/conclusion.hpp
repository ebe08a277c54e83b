#pragma once
// The end of an attempt: when no rank works any more, keeps the ranks for the next test, or dismisses them, or sweeps
// up what they have left; then completes the record.
//
//   all ranks have settled: nothing went wrong                -> inspected
//                           otherwise they are dismissed      -> they end
//   inspected: nothing is left behind, nor happened meanwhile -> kept, over
//              otherwise they are dismissed                   -> they end
//   all ranks have ended                                      -> swept, over
//
// Lives on: the coordinator's loop.
#include <functional>
#include <memory>
#include <vector>

#include <distrun/runner/attempt/course.hpp>
#include <distrun/runner/attempt/provisions.hpp>

namespace distrun::runner {

class Conclusion {
 public:
  // All arguments must outlive this; `standing` owns the ranks if it is not null. `on_over` is called when the record
  // is complete.
  Conclusion(Ranks& ranks, Provisions& provisions, Course& course, StandingWorld* standing,
             std::function<void()> on_over);

  // These ranks set their suite up: if they are kept, they go on using the attempt's directories and store.
  void hold_for_suite() noexcept { sets_up_suite_ = true; }
  // Returns whether the rank waits for another order after its result.
  bool stays(const RankState& rank) const;
  // The rank has reported its result and now waits for the next test or its dismissal.
  void settle(RankState& rank);
  // All ranks have ended, or settled if `any_alive`.
  void on_idle(bool any_alive);
  bool has_kept() const noexcept { return kept_; }

 private:
  bool may_be_kept() const;
  void inspect();
  void keep();
  void dismiss();
  void sweep();
  void finish(std::vector<Leak> leaks);
  void complete_ranks();
  void hand_over_trace();

  Ranks& ranks_;
  Provisions& provisions_;
  Course& course_;
  StandingWorld* const standing_;
  std::function<void()> on_over_;
  bool sets_up_suite_ = false;
  bool is_inspecting_ = false;
  bool kept_ = false;
};

}  // namespace distrun::runner
