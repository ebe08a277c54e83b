#pragma once
// The things that an attempt provides for its ranks: directories, a store, memory for traces, and the order that names
// them. Also finds what the ranks leave there. Lives on: the coordinator's loop.
#include <memory>
#include <string>
#include <vector>

#include <distrun/runner/attempt/attempt_store.hpp>
#include <distrun/runner/attempt/attempt_trace.hpp>
#include <distrun/runner/attempt/cpu_binding.hpp>
#include <distrun/runner/attempt/run_context.hpp>
#include <distrun/runner/attempt/standing_world.hpp>
#include <distrun/runner/attempt/test_resources.hpp>
#include <distrun/runner/plan/plan.hpp>

namespace distrun::runner {

// The surroundings of an attempt's ranks. Everything here must outlive the attempt.
struct Environment {
  StandingWorld* standing = nullptr;        // owns the ranks; null: the attempt starts its own
  bool stay = false;                        // give the ranks back to `standing` if all goes well
  const PrivateTmp* private_tmp = nullptr;  // private to the ranks; null: they have none
  bool ran_others = false;                  // the ranks have run other tests before
  const LaneCpus* cpus = nullptr;           // that the ranks run on; null: any
};

class Provisions {
 public:
  // `run` and `test` must outlive this. Throws Error if it cannot create the work directories or find a port.
  Provisions(const RunContext& run, const PlannedTest& test, int n, const Environment& environment);

  // The part of the order that all ranks share.
  const wire::RunOrder& order() const noexcept { return order_; }
  wire::RunOrder order_of(int rank) const;
  // Binds the ranks of a program to their CPUs.
  void bind(launch::ProgramSpec& program) const;
  const WorkDirs& dirs() const noexcept { return *dirs_; }
  TestResources& resources() noexcept { return resources_; }
  // Null if nothing is traced.
  const trace::Memory* trace() const noexcept { return trace_.get(); }
  // Returns what ranks go on using if they are kept after setting up their suite.
  std::vector<std::shared_ptr<const void>> shared() const { return {dirs_, store_}; }
  // Removes the directories. Returns what could not be removed, or empty.
  std::string clear() { return dirs_->clear(); }

 private:
  const RunContext& run_;
  const PlannedTest& test_;
  const LaneCpus cpus_;
  std::shared_ptr<WorkDirs> dirs_;
  std::shared_ptr<AttemptStore> store_ = std::make_shared<AttemptStore>();
  const std::unique_ptr<trace::Memory> trace_ = make_trace_memory(run_, test_);
  TestResources resources_;
  wire::RunOrder order_;
};

}  // namespace distrun::runner
