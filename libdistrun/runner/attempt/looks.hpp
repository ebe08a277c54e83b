#pragma once
// The looks at an attempt's ranks: the stacks that somebody asks for, and the names of the addresses that crashes and
// exceptions have left behind. What was asked for and has not come is pending: no attempt is over before.
// Lives on: the coordinator's loop.
#include <functional>
#include <memory>
#include <vector>

#include <distrun/runner/attempt/run_context.hpp>
#include <distrun/runner/attempt/throws.hpp>

namespace distrun::runner {

class Looks {
 public:
  using OnLook = std::function<void(const Look&)>;

  // The attempt whose ranks they are.
  class Owner {
   public:
    virtual std::vector<RankView> views() const = 0;
    virtual Nanoseconds age() const = 0;
    virtual void add_look(Look look) = 0;
    virtual void add_error(int rank, RankError error) = 0;
    // Null if the rank has no such error.
    virtual RankError* find_error(int rank, std::size_t index) = 0;
    // One is no longer pending.
    virtual void on_look_over(LookKind kind) = 0;

   protected:
    ~Owner() = default;
  };

  // `owner` must outlive it. Ranks that are programs run scripts, maybe: looks name them.
  Looks(const RunContext& run, Owner& owner, bool of_programs) : run_(run), owner_(owner), of_programs_(of_programs) {}
  // Before anything else is called. The world outlives it.
  void use(launch::World& world) noexcept { world_ = &world; }

  int pending() const noexcept { return pending_; }
  // Reads the stacks of all ranks, within `bound`, and tells them to `on_look`, or to the owner if that is empty.
  void look(LookKind kind, Nanoseconds bound, OnLook on_look);
  // Of a rank that has ended by a signal or by exit(), or was dragged along with its process. Ranks that crash while a
  // probe is at work share the next one.
  void name_crash(const RankRecord& rank);
  // The same for exceptions, which a rank survives. `error` is its place among the rank's. Without a probe, or without
  // its answer, the error stays as it is.
  void name_throw(int rank, std::size_t error, wire::RawStacks stack);
  // Once, when no rank throws any more: ranks that threw at the same place are told together.
  void tell_throws();

 private:
  struct Crash {
    int rank = 0;
    board::Dump dump;
  };

  Look begin(LookKind kind);
  void end(Look look, evidence::Stacks stacks, const OnLook& on_look = {});
  void name_crashes();
  void on_crashes_named(Look look, const std::vector<Crash>& crashes, evidence::Stacks stacks);
  void name_throws();
  void on_throws_named(evidence::Stacks stacks);
  void end_one(LookKind kind);

  const RunContext& run_;
  Owner& owner_;
  const bool of_programs_;
  launch::World* world_ = nullptr;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for stacks that come later
  int pending_ = 0;
  std::vector<Crash> crashes_;  // whose addresses have no names yet
  bool naming_ = false;         // others' are being given theirs
  Throws throws_;
  Look throws_look_;  // its times are those of the first error with a stack
};

}  // namespace distrun::runner
