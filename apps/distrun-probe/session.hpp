#pragma once
// Executes one order: first the kernel's view, since it cannot block; then a short stop of everything, copies, release;
// then stacks with names, or with addresses first, if the names of a large program take long; then the same for
// descendants; then, if requested, more samples that show which threads move. Main thread only; a second thread reads
// code meanwhile (warm_up.hpp). Errors of one process or thread are reported with it; an Error concerns the whole
// order.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/wire/stacks.hpp>

#include "capture.hpp"
#include "code_space.hpp"
#include "frame_table.hpp"
#include "line.hpp"
#include "loop_sampler.hpp"
#include "motion.hpp"
#include "observer.hpp"
#include "python_stacks.hpp"
#include "stopper.hpp"
#include "warm_up.hpp"

namespace distrun::probe {

// Returns the functions of a stack, innermost first: without those of libc and similar libraries, or else only the
// innermost few with them.
std::vector<std::string> functions_of(const FrameTable& table, const wire::ThreadStack& thread, bool with_runtime);

class Session {
 public:
  // `line` must outlive the session. `cache` has names of earlier sessions.
  Session(Line& line, wire::ProbeOrder order, NamesCache cache);

  // Throws Error{Disconnected} if the coordinator is gone.
  void run();
  // Returns how many descendants of the processes were not looked at, since there are more than the order allows.
  std::int32_t descendants_left() const noexcept { return descendants_left_; }

 private:
  struct Process {
    wire::ProcessStacks told;
    const Mappings* mappings = nullptr;  // null: none of its threads has stopped
    CodeSpace* code = nullptr;
    bool is_descendant() const noexcept { return told.descendant_of >= 0; }
  };
  // Threads stop together within this time. A thread that wants a CPU and gets none may take the whole limit: it stops
  // alone, while the others run.
  static constexpr base::Milliseconds kStopTogether{200};

  // Kernel's view.
  void find_all();
  void look_at_all();
  void look_at(Process& process);
  void observe_waits();
  void tell(Process& process);

  // A short stop. Copies are analysed later.
  std::vector<pid_t> living(bool descendants) const;
  base::Milliseconds stop_limit(bool descendants) const;
  void stop_and_describe(bool descendants);
  void stop_all(bool descendants);
  void capture_stopped();

  // Addresses first, if names take long.
  bool names_take_long(bool descendants);
  void tell_addresses(Process& process);

  // After it.
  void describe(Process& process);
  void describe(Process& process, wire::ThreadStack& thread);
  void set_why_none(Process& process, wire::ThreadStack& thread);
  void find_code(Process& process);
  void fill_with_names(Process& process, wire::ThreadStack& thread, const Capture& capture);

  // More samples (session_samples.cpp).
  void take_samples();
  bool stand_still() const;
  void judge_still();
  void take_first_pulses();
  void take_sample(base::Milliseconds interval);
  void wait_for_late_stops(base::TimePoint end);
  std::vector<pid_t> take_pulses();
  void add_to_sample(Process& process);
  void add_to_sample(Process& process, wire::ThreadStack& thread);
  void judge_motions();

  void name_raw(const wire::RawStacks& raw, std::int32_t index);

  Line& line_;
  const wire::ProbeOrder order_;
  const base::Milliseconds stop_limit_;
  std::vector<Process> processes_;
  Stopper stopper_;
  std::map<pid_t, Mappings> mappings_;        // by process; from the last stop
  std::map<pid_t, Capture> captures_;         // by thread; from the last stop
  std::map<pid_t, MotionHistory> histories_;  // by thread
  LoopSampler loops_{stopper_, mappings_, histories_};
  std::map<std::string, std::unique_ptr<CodeSpace>> spaces_;  // by code signature
  std::unique_ptr<CodeSpace> warm_space_;  // of the warm-up, if `spaces_` has one already: the table refers to it
  bool names_are_slow_ = false;
  base::TimePoint told_;  // time of the last report on a process
  FrameTable table_;
  WarmUp warm_up_{table_};  // from the kernel's view to the first stacks
  Observer observer_;
  python::PythonStacks python_;
  std::int32_t descendants_left_ = 0;
  base::TimePoint begin_;  // of the kernel's view
};

}  // namespace distrun::probe
