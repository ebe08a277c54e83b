#pragma once
// Reports the events of a suite's host as those of rank -1 of the test for which it is set up or torn down. An attempt
// numbers its ranks from 0, including a host's only process; this is the only place that renumbers it.
#include <functional>
#include <string>
#include <utility>

#include <distrun/runner/record/silent_sink.hpp>

namespace distrun::runner {

inline constexpr int kHostRank = -1;

// Replaces the attempt's rank number by the host's.
void name_host(AttemptRecord& attempt);
// Wraps `on_snapshot` to renumber its snapshots; empty if `on_snapshot` is.
std::function<void(const Snapshot&)> naming_host(std::function<void(const Snapshot&)> on_snapshot);

class HostEvents final : public SilentSink {
 public:
  // `id` is the test's. `sink` must outlive this object.
  HostEvents(EventSink& sink, std::string id) : sink_(sink), id_(std::move(id)) {}

  void on_rank_start(const std::string&, int attempt, const RankRecord& rank) override;
  void on_rank_phase(const std::string&, int attempt, int rank, wire::Phase phase) override;
  void on_rank_error(const std::string&, int attempt, int rank, const RankError& error) override;
  void on_snapshot(const std::string&, int attempt, const Snapshot& snapshot) override;
  void on_rank_end(const std::string&, int attempt, const RankRecord& rank) override;

 private:
  EventSink& sink_;
  std::string id_;
};

}  // namespace distrun::runner
