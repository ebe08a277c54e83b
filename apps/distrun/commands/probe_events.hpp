#pragma once
// Events of a run as static probes, described on the page of the command line. Lives on: the coordinator's loop.
#include <distrun/runner/record/silent_sink.hpp>

namespace distrun::cli {

class ProbeEvents final : public runner::SilentSink {
 public:
  void on_attempt_start(const runner::AttemptStart& start) override;
  void on_rank_start(const std::string& id, int attempt, const runner::RankRecord& rank) override;
  void on_rank_end(const std::string& id, int attempt, const runner::RankRecord& rank) override;
  void on_test_end(const runner::TestRecord& test) override;
};

}  // namespace distrun::cli
