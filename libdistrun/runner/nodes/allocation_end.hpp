#pragma once
// When the Slurm allocation that this process runs in ends. Lives on: its loop.
#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <distrun/common/io/loop.hpp>
#include <distrun/runner/nodes/allocation.hpp>
#include <distrun/runner/nodes/engine_process.hpp>

namespace distrun::nodes {

// Returns the time that squeue says is left (%L): "4:59", "1:00:00", "2-00:00:00"; nothing for "UNLIMITED" and anything
// else.
std::optional<base::Nanoseconds> parse_time_left(std::string_view text);

class AllocationEnd {
 public:
  // Takes the end from $SLURM_JOB_END_TIME, or else asks squeue once. Calls `on_known` at most once, from the loop:
  // never outside of an allocation, if it has no limit, if Slurm does not answer, or, without the variable, if Slurm
  // has started this process as one of several, which would all ask.
  AllocationEnd(io::Loop& loop, std::function<void(base::TimePoint end)> on_known,
                const Variables& variables = variable_of_process);

  // Returns "Slurm job 17"; empty outside of an allocation.
  std::string name() const { return job_.empty() ? "" : "Slurm job " + job_; }
  // Returns the process that asks squeue, which does not belong to a rank; 0: nothing asks.
  pid_t asking() const noexcept { return squeue_ ? squeue_->pid() : 0; }

 private:
  void ask();
  void take_answer();

  io::Loop& loop_;
  std::function<void(base::TimePoint end)> on_known_;
  std::string job_;
  base::TimePoint asked_at_{};
  base::TimePoint end_{};
  io::Alarm known_;
  std::unique_ptr<EngineProcess> squeue_;
};

}  // namespace distrun::nodes
