#pragma once
// What the host of a suite does, told as of the rank -1 of the test for which it is set up or torn down. An attempt
// numbers its ranks from 0, and so a host's only process; here, and nowhere else, it becomes the host.
#include <functional>
#include <string>
#include <utility>

#include <distrun/runner/record/silent_sink.hpp>

namespace distrun::runner {

inline constexpr int kHostRank = -1;

// With the host's number in place of its attempt's.
void name_host(AttemptRecord& attempt);
// Tells looks so; empty if `on_look` is.
std::function<void(const Look&)> naming_host(std::function<void(const Look&)> on_look);

class HostEvents final : public SilentSink {
 public:
  // `id` is the test's. `sink` must outlive it.
  HostEvents(EventSink& sink, std::string id) : sink_(sink), id_(std::move(id)) {}

  void on_rank_start(const std::string&, int attempt, int rank, int pid) override;
  void on_rank_phase(const std::string&, int attempt, int rank, wire::Phase phase) override;
  void on_rank_error(const std::string&, int attempt, int rank, const RankError& error) override;
  void on_look(const std::string&, int attempt, const Look& look) override;
  void on_rank_end(const std::string&, int attempt, const RankRecord& rank) override;

 private:
  EventSink& sink_;
  std::string id_;
};

}  // namespace distrun::runner
