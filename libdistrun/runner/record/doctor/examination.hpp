#pragma once
// The result of looking at ranks or processes twice: whether they hang, and why. A pure function of two snapshots.
#include <string>
#include <vector>

#include <distrun/runner/record/doctor/causes.hpp>

namespace distrun::runner::doctor {

enum class HangFinding : std::uint8_t {
  NoHang,   // all threads that were seen make progress, sleep or compute
  Hang,     // with a proven or likely cause
  Unknown,  // something waits, and its cause is not known
  Unseen,   // some processes could not be looked at, and none of the others hangs
};
const char* name_of(HangFinding finding) noexcept;  // "no-hang"

struct Examination {
  HangFinding finding = HangFinding::NoHang;
  std::vector<HangCause> causes;    // the headline first; proven deadlocks of single threads are included
  std::vector<std::string> unseen;  // "process 4711: it has ended"
};

// Returns whether the cause explains a hang, rather than a thread that works, sleeps or waits for something unknown.
bool is_hang(const HangCause& cause) noexcept;

// `earlier` is the snapshot before `now`, or nullptr: nothing can be proven then. Of processes that are no ranks, the
// first `asked` must be seen; the others were started by them, and may end at any moment.
Examination examine(const Snapshot& now, const Snapshot* earlier, int asked = 0);

// Returns the finding of several examinations together: a hang counts most, then what was not seen, then the unknown.
HangFinding worst_of(HangFinding one, HangFinding other) noexcept;

}  // namespace distrun::runner::doctor
