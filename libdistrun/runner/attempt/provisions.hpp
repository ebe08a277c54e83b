#pragma once
// The things that an attempt provides for its ranks, and the order that names them; also finds what the ranks leave
// behind. On this machine these are directories, a store and memory for traces (local_provisions.hpp); on other
// machines their nodes provide for the ranks (spread_provisions.hpp). Lives on: the coordinator's loop.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <distrun/common/trace/reader.hpp>
#include <distrun/runner/attempt/cpu_binding.hpp>
#include <distrun/runner/attempt/private_tmp.hpp>
#include <distrun/runner/attempt/run_context.hpp>
#include <distrun/runner/attempt/standing_world.hpp>
#include <distrun/runner/plan/plan.hpp>

namespace distrun::runner {

// The surroundings of an attempt's ranks. Everything here must outlive the attempt.
struct Environment {
  StandingWorld* standing = nullptr;        // owns the ranks; null: the attempt starts its own
  bool stay = false;                        // give the ranks back to `standing` if all goes well
  const PrivateTmp* private_tmp = nullptr;  // private to the ranks; null: they have none
  bool ran_others = false;                  // the ranks have run other tests before
  const LaneCpus* cpus = nullptr;           // that the ranks run on; null: any
  mpi::Server* mpi = nullptr;               // of the ranks' world of MPI, and ready; null: they have none
};

class Provisions {
 public:
  using OnInspected = std::function<void(bool is_clean)>;
  using OnSwept = std::function<void(std::vector<Leak>)>;

  explicit Provisions(wire::RunOrder order) : order_(std::move(order)) {}
  virtual ~Provisions() = default;
  Provisions(const Provisions&) = delete;
  Provisions& operator=(const Provisions&) = delete;

  // The part of the order that all ranks share.
  const wire::RunOrder& order() const noexcept { return order_; }
  virtual wire::RunOrder order_of(int rank, const launch::World& world) const = 0;
  virtual launch::ProgramSpec program() const = 0;
  // Returns the command that each rank is started under. Throws Error{Failed} that names one that does not exist.
  virtual std::vector<std::vector<std::string>> wrappers() const { return {}; }
  // Keeps the files that the rank's command has written to its work directory, and returns them; call before clear().
  virtual std::vector<std::string> keep_files(int /*rank*/) { return {}; }
  // Adds a process of the attempt, and names that its processes were seen to hold.
  virtual void add_process(pid_t /*pid*/) {}
  virtual void add_held(std::vector<base::HeldName> /*names*/) {}
  // Returns the names that the ranks have created so far, as far as they are provably theirs and on this machine.
  virtual std::vector<proc::NewName> names() { return {}; }
  // Returns what the ranks have recorded, by rank; call once, when the attempt is over. Empty if nothing is traced.
  virtual std::vector<trace::RankTrace> take_traces() { return {}; }
  // Looks whether the ranks of `world`, which all wait for another order, have left anything behind; removes nothing.
  // May call `on_inspected` before it returns, and calls it at most once.
  virtual void inspect(launch::World& world, OnInspected on_inspected) = 0;
  // The ranks are kept. `holds`: they have set up their suite, and go on using what is provided here; returns what the
  // coordinator must hold for them then.
  virtual std::vector<std::shared_ptr<const void>> keep(launch::World& world, bool holds) = 0;
  // Finds, ends and removes what has outlived the ranks of `world`. Call once, when all have ended. May call `on_swept`
  // before it returns.
  virtual void sweep(launch::World& world, bool patient, OnSwept on_swept) = 0;
  // Removes the directories. Returns what could not be removed, or empty.
  virtual std::string clear() { return ""; }

 protected:
  wire::RunOrder order_;
};

}  // namespace distrun::runner
