#pragma once
// Provides what the ranks of an attempt share if they run on other machines. Their nodes complete the orders, and find
// what the ranks leave behind. Lives on: the coordinator's loop.
#include <vector>

#include <distrun/runner/attempt/provisions.hpp>

namespace distrun::runner {

class SpreadProvisions final : public Provisions {
 public:
  // `stay`: the ranks get another order afterwards, as a suite's host does.
  SpreadProvisions(const RunContext& run, const PlannedTest& test, int n, bool stay);

  wire::RunOrder order_of(int rank, const launch::World& world) const override;
  launch::ProgramSpec program() const override;
  std::vector<trace::RankTrace> take_traces() override { return std::move(traces_); }
  void inspect(launch::World& world, OnInspected on_inspected) override;
  std::vector<std::shared_ptr<const void>> keep(launch::World& world, bool holds) override;
  void sweep(launch::World& world, bool patient, OnSwept on_swept) override;

 private:
  void read_traces(launch::World& world, std::function<void()> on_read);

  const RunContext& run_;
  const PlannedTest& test_;
  const bool is_traced_;
  std::vector<trace::RankTrace> traces_;                          // by rank, as far as they have been fetched
  const std::vector<int> gpus_;                                   // that each rank sees
  std::shared_ptr<const void> alive_ = std::make_shared<int>(0);  // a world may outlive this
};

}  // namespace distrun::runner
