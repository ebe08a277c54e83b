#pragma once
// Provides for an attempt's ranks on this machine. Lives on: the coordinator's loop.
#include <memory>
#include <string>
#include <vector>

#include <distrun/runner/attempt/attempt_store.hpp>
#include <distrun/runner/attempt/attempt_trace.hpp>
#include <distrun/runner/attempt/provisions.hpp>
#include <distrun/runner/attempt/sweep.hpp>
#include <distrun/runner/attempt/test_resources.hpp>

namespace distrun::runner {

class LocalProvisions final : public Provisions {
 public:
  // As make_provisions().
  LocalProvisions(const RunContext& run, const PlannedTest& test, int n, const Environment& environment);

  wire::RunOrder order_of(int rank, const launch::World& world) const override;
  launch::ProgramSpec program() const override;
  std::vector<std::vector<std::string>> wrappers() const override;
  std::vector<std::string> keep_files(int rank) override;
  void add_process(pid_t pid) override { resources_.add_process(pid); }
  void add_held(std::vector<base::HeldName> names) override { resources_.add_held(std::move(names)); }
  std::vector<proc::NewName> names() override { return resources_.names(); }
  std::vector<trace::RankTrace> take_traces() override { return read_traces(trace_.get()); }
  void inspect(launch::World& world, OnInspected on_inspected) override;
  std::vector<std::shared_ptr<const void>> keep(launch::World& world, bool holds) override;
  void sweep(launch::World& world, bool patient, OnSwept on_swept) override;
  std::string clear() override { return dirs_->clear(); }

 private:
  void join_mpi(launch::ProgramSpec& program) const;
  void join_mpi(wire::RunOrder& order) const;

  const RunContext& run_;
  const PlannedTest& test_;
  const LaneCpus cpus_;
  const mpi::Server* const mpi_;
  const std::shared_ptr<WorkDirs> dirs_;
  const std::shared_ptr<AttemptStore> store_ = std::make_shared<AttemptStore>();
  const std::unique_ptr<trace::Memory> trace_;
  TestResources resources_;
  std::unique_ptr<Sweep> sweep_;
};

}  // namespace distrun::runner
