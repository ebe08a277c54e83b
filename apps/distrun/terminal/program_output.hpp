#pragma once
// The output of programs: to the terminal at once, and optionally to a file per rank. Lives on: the coordinator's loop.
#include <functional>
#include <optional>

#include <distrun/common/io/loop.hpp>
#include <distrun/runner/record/record.hpp>
#include <distrun/runner/report/files/outlet.hpp>
#include <distrun/runner/report/files/rank_logs.hpp>
#include <distrun/runner/report/text/live_output.hpp>

#include "options/options.hpp"

namespace distrun::cli {

class ProgramOutput final : public launch::OutputSink {
 public:
  // Calls `on_lost_reader` once, if a reader of the ranks' output has gone. Throws Error{Failed} if it cannot write.
  ProgramOutput(io::Loop& loop, const RunOptions& options, std::function<void()> on_lost_reader);

  void on_output(int rank, launch::Stream stream, std::string_view bytes) override;
  bool is_full() override { return live_.is_full(); }
  // Prints the rest, and adds to the record what could not be shown or written.
  void finish(runner::RunRecord& record);

 private:
  void tick();
  void look_for_reader();

  io::Loop& loop_;
  std::function<void()> on_lost_reader_;  // empty: already called
  report::Outlet out_;
  std::optional<report::Outlet> err_;  // empty: the same file as out_, where the order is kept
  report::LiveOutput live_;
  std::optional<report::RankLogs> logs_;
  io::Alarm alarm_;
};

}  // namespace distrun::cli
