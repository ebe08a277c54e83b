#pragma once
// The edges of waits that were observed from outside: locks, channels, children, timers, and unknown system calls.
#include <optional>

#include <distrun/runner/record/doctor/roster.hpp>
#include <distrun/runner/record/doctor/things.hpp>

namespace distrun::runner::doctor {

class ObservedEdges {
 public:
  // All must outlive this.
  ObservedEdges(const Graph& graph, Roster& roster, Things& things) : graph_(graph), roster_(roster), things_(things) {}

  // Returns what the thread waits for; nullopt if it runs, sleeps, or its stack is not known.
  std::optional<Wait> wait_of(std::size_t thread);

 private:
  Wait unknown_wait(std::size_t thread) const;
  Wait wait_for(std::size_t thread, const wire::ObservedWait& seen);
  std::string why_open(const Thread& thread, const wire::ObservedWait& seen, const Party& party) const;
  bool add_ender(Indices& enders, int host, const wire::WaitEnder& ender) const;
  bool has_mortal(const Thread& thread, const Party& party) const;
  bool is_of_one_rank(const Indices& threads, std::size_t first) const;
  bool is_expected(std::size_t thread, const wire::WaitEnder& ender, const Indices& threads, std::size_t first) const;

  const Graph& graph_;
  Roster& roster_;
  Things& things_;
};

// Returns the observed wait; without one, what `waits_for` says of a mutex: "mutex 0x55... held by thread 4711
// (worker)".
wire::ObservedWait observed(const wire::ThreadStack& stack, int pid);
// Returns what the thread does, without regard to the board.
Doing doing_of(const wire::ThreadStack& stack);

}  // namespace distrun::runner::doctor
