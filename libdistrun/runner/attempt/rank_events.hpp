#pragma once
// Receives what happens to the ranks and what they send, records it, and has the attempt's other parts act on it.
// Lives on: the coordinator's loop.
#include <string>
#include <string_view>
#include <vector>

#include <distrun/runner/attempt/conclusion.hpp>
#include <distrun/runner/attempt/programs.hpp>

namespace distrun::runner {

class RankEvents final : public launch::WorldEvents {
 public:
  // All arguments must outlive this.
  RankEvents(Ranks& ranks, Provisions& provisions, Course& course, Conclusion& conclusion, Programs& programs)
      : ranks_(ranks), provisions_(provisions), course_(course), conclusion_(conclusion), programs_(programs) {}

  void on_rank_started(int rank, int pid) override;
  void on_frame(int rank, const wire::Frame& frame) override;
  void on_connection_lost(int rank, const std::string& why) override { ranks_.lose_connection(rank, why); }
  void on_stray_child(int rank) override;
  void on_rank_ended(int rank, proc::ExitStatus status, int because_of) override;
  void on_spawn_failed(const std::string& why) override { course_.fail_to_start(why); }
  void on_host_lost(const std::vector<int>& ranks, const std::string& why) override;
  void on_program(int rank) override { programs_.on_program(rank); }
  void on_output(int rank, launch::Stream stream, std::string_view bytes) override {
    programs_.on_output(rank, stream, bytes);
  }

  // Gives the rank its order.
  void begin(RankState& rank);
  // The settings that a host has provided for the ranks of its suite.
  const std::vector<wire::KeyValue>& suite_settings() const noexcept { return suite_settings_; }

 private:
  void handle(int rank, const wire::Frame& frame);
  void handle_program(int rank, const wire::Frame& frame);
  void on_hello(int rank, const wire::Hello& hello);
  void on_phase(int rank, wire::Phase phase);
  void on_error(int rank, wire::ErrorReport report);
  void on_message(int rank, wire::RankMessage message);
  void on_done(int rank, const wire::Done& done);
  void take_suite_settings(const wire::Done& done);
  Outcome outcome_of_ended(const RankState& rank, proc::ExitStatus status) const;
  std::string describe_dragged(int rank, int because_of) const;
  bool may_leave() const { return course_.is_running() && !course_.failures().any_held(); }

  Ranks& ranks_;
  Provisions& provisions_;
  Course& course_;
  Conclusion& conclusion_;
  Programs& programs_;
  std::vector<wire::KeyValue> suite_settings_;
};

}  // namespace distrun::runner
