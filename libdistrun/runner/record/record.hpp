#pragma once
// The record of a run: what the supervisor writes down, the judge reads and every report prints.
// Plain values; whoever holds one owns it.
#include <array>
#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/base/isolation.hpp>
#include <distrun/common/board/slot_reader.hpp>
#include <distrun/common/wire/control.hpp>
#include <distrun/common/wire/plugin_table.hpp>
#include <distrun/runner/evidence/stacks/stacks.hpp>
#include <distrun/runner/evidence/stacks/text_line.hpp>
#include <distrun/runner/proc/capture.hpp>
#include <distrun/runner/record/outcome.hpp>

namespace distrun::runner {

using base::Nanoseconds;
using proc::Captured;

struct RankError {
  std::string type;
  std::string text;
  std::string file;
  std::uint32_t line = 0;
  std::string stack;
  bool ended_body = true;
  int because_of = -1;    // the rank from whose failure it follows
  Nanoseconds at{};       // since the attempt began
  bool is_crash = false;  // told by a crash handler or a sanitizer, not by the test
};

struct RankRecord {
  int rank = 0;  // -1: the host of the suite
  int pid = 0;   // 0: never started
  Outcome outcome;
  int exit_code = -1;                      // as the kernel told it; -1: none
  int signal = 0;                          // 0: none
  wire::Phase phase = wire::Phase::Spawn;  // the last that it was in
  std::uint64_t checks = 0;
  Nanoseconds started{};  // since the attempt began
  Nanoseconds ended{};
  Nanoseconds body_began{};  // the same; 0: its body never began
  Nanoseconds body_ended{};  // 0: its body never came to its end
  // When what decided its outcome was learned, as a position in the order of all such events of the
  // attempt; 0: nothing yet. The judge finds the first cause by it.
  int decided = 0;
  int because_of = -1;            // its outcome follows from that rank's
  bool outlived_failure = false;  // it lived on when the first failure of the attempt was decided, or ran on
  bool declared_death = false;    // it died as the test said it may
  // How it ended after its result, if that was bad and its process had run other tests, too: any of them may be why.
  std::optional<Outcome> bad_end;
  bool body_passed = false;       // told before it ended: what went wrong later is the exit's
  std::string waiting_in;         // the barrier, message or other thing that it waited for when it was ended
  std::vector<RankError> errors;  // in the order in which they came, at most 100
  std::vector<wire::KeyValue> notes;
  Captured out;
  Captured err;
};

enum class LeakKind : std::uint8_t {
  Process,
  SharedMemory,
  Socket,
  File,
  Descriptor,
  Thread,
  State,
  Semaphores,
  Queue
};
inline constexpr int kLeakKindCount = 9;
const char* name_of(LeakKind kind) noexcept;  // "process", "shared memory"

struct Leak {
  LeakKind kind = LeakKind::Process;
  std::string what;      // "4711 (sleep 100)", "/dev/shm/x", "of rank 2: 5 (/tmp/x)"
  bool removed = false;  // false: left where it is; somebody should look
};

// Why somebody looked at what the ranks did.
enum class LookKind : std::uint8_t { Timeout, Crash, Slow, Asked, Exception };
inline constexpr int kLookKindCount = 5;
const char* name_of(LookKind kind) noexcept;  // "timeout"

// What a rank showed on the board at that moment.
struct RankView {
  int rank = 0;
  std::optional<board::Shown> shown;  // nothing if it has shown nothing
};

// What was seen of the ranks at one moment: what they showed, and the stacks of their threads.
struct Look {
  LookKind kind = LookKind::Timeout;
  Nanoseconds at{};  // since the attempt began
  Nanoseconds took{};
  std::int64_t at_ns = 0;  // of the monotonic clock, for the times on the board
  std::vector<RankView> ranks;
  evidence::Stacks stacks;
  std::vector<evidence::Line> text;  // what people read of it
};

// Why an attempt came to its verdict; describe.hpp puts it into words.
enum class CauseKind : std::uint8_t {
  None,          // it passed
  Stopped,       // by the user
  Infra,         // distrun could not do its part
  Host,          // the suite's host died
  NoRanks,       // there were none to run
  Deed,          // what the culprits did
  Awaited,       // the culprits kept somebody waiting until its time was over
  LeftEarly,     // the culprit was done while others still needed it
  Unknown,       // the culprit was ended, and nobody knows why
  Disagreement,  // some skipped, and others did not, or for another reason
  Skipped,       // all did, for one reason
  LeftBehind,    // something outlived the ranks
};
inline constexpr int kCauseKindCount = 12;
const char* name_of(CauseKind kind) noexcept;  // "deed", "left-early"

struct Cause {
  CauseKind kind = CauseKind::None;
  int rank = -1;  // whose outcome shows it: it did it first, had to wait, was left, or skipped; -1: none
};

enum class AttemptKind : std::uint8_t { First, Repeat, Retry };
const char* name_of(AttemptKind kind) noexcept;

struct AttemptRecord {
  int n = 1;  // counts all attempts of the test
  AttemptKind kind = AttemptKind::First;
  Verdict verdict = Verdict::Pass;
  Cause cause;
  std::string message;                    // its words, one line, the first cause first; empty on a pass
  std::vector<int> culprits;              // ranks to look at first
  wire::Phase phase = wire::Phase::Exit;  // in which it was decided
  Nanoseconds duration{};
  std::vector<RankRecord> ranks;
  std::vector<Leak> leaks;
  std::vector<Look> looks;  // in the order in which they were taken, at most 10
  std::string infra_error;  // why distrun could not do its part; empty: it could
  std::string lost_host;    // how the suite's host died meanwhile: "was killed by signal 9 (SIGKILL)"; or empty
  bool cancelled = false;
  std::string trace;  // the file with what its ranks did; empty: there is none
};

// Fields of the report that are no part of a test's id.
struct Variant {
  int world_size = 0;
  std::string backend;
  std::string agent;
  std::string gpu_driver;
  Isolation isolation = Isolation::Process;  // that was used
  std::string isolation_reason;              // why not the one asked for; empty: it is
};

struct TestRecord {
  wire::TestInfo info;
  std::string plugin;  // path as given
  Variant variant;
  Verdict verdict = Verdict::Pass;
  std::string message;
  Nanoseconds duration{};
  std::vector<AttemptRecord> attempts;  // empty for a test that was skipped before any rank
};

// The host of a suite, the process with its code for outside the ranks.
struct HostRecord {
  std::string plugin;
  std::string suite;
  Verdict verdict = Verdict::Pass;
  std::string message;   // as a test's
  Nanoseconds set_up{};  // how long it took
  Nanoseconds tear_down{};
  RankRecord rank;  // as a rank's, with the number -1
};

// Something that kept tests from running: a plugin that cannot be listed, a report that cannot be written.
struct Problem {
  std::string plugin;  // empty: not about a plugin
  std::string phase;   // "list", "load", "report", "start"
  std::string text;
};

struct Machine {
  std::string hostname;
  std::string kernel;
  int cpus = 0;
  std::uint64_t memory_bytes = 0;
};

// A part of a run's tests, of `count` parts; `index` counts from 1. 1 of 1: all of them.
struct Shard {
  int index = 1;
  int count = 1;
};

// A test of an earlier run, by the plugin as it was given then.
struct TestName {
  std::string plugin;
  std::string id;
};

struct Settings {
  std::vector<std::string> plugins;
  std::vector<std::string> program;  // of `distrun exec`, instead of plugins: argv
  std::string program_path;
  std::string program_name;  // by which reports know it; empty: that of the program or its script
  int stdin_rank = -1;       // of its ranks: reads stdin_fd; -1: none does
  int stdin_fd = -1;
  bool keep_output = true;  // what ranks write goes into the record
  int world_size = 4;
  std::string backend = "shm";
  std::string agent = "pipe";
  std::string rpc_transport = "best";
  std::string faults;  // of the agent "faulty": "SEED:PLAN" (common/base/fault_plan.hpp); empty: none
  std::string gpu_driver = "auto";
  int gpus = 0;            // devices that the driver offers
  std::string why_no_gpu;  // "this machine has no NVIDIA device"; empty: there are some
  Isolation isolation = Isolation::Process;
  std::vector<std::string> filters;
  std::string rerun_failed;     // the summary whose failed tests alone run; empty: any test runs
  std::vector<TestName> rerun;  // those tests
  Shard shard;
  bool shuffle = false;                             // the order of the tests comes from the seed
  Nanoseconds timeout = std::chrono::seconds(300);  // 0: none
  Nanoseconds timeout_override{};                   // 0: none
  int debug_rank = -1;                              // begins under a debugger, and no bound runs out; -1: none
  Nanoseconds stacks_after{};                       // into a test's body, without ending it; 0: never
  double timeout_scale = 1.0;
  Nanoseconds peer_grace = std::chrono::milliseconds(500);       // for the others when a rank has failed
  Nanoseconds terminate_grace = std::chrono::milliseconds(500);  // from SIGTERM to SIGKILL
  int stop_signal = SIGTERM;                                     // what ranks get first that are to end
  int jobs = 1;                                                  // tests at the same time
  int repeat = 1;
  int until_fail = 0;  // attempts at most, until one does not pass; 0: `repeat` counts
  int retries = 0;
  bool fail_fast = false;
  std::uint64_t seed = 0;
  std::vector<wire::KeyValue> env;
  bool env_values = false;  // reports tell the values of these, too, and not their names alone
  bool env_hidden = false;  // the values are not here: the settings come from a report without them
  bool leaks_strict = false;
  bool leaks_off = false;
  bool skips_pass = false;
  bool keep_work_dir = false;
  bool private_tmp = false;               // an attempt has a /tmp and a /dev/shm of its own
  bool quick_exit = false;                // ranks end without exit handlers and static destructors
  std::string trace_dir;                  // a file for each attempt with what its ranks did; empty: none
  std::uint64_t trace_records = 1 << 16;  // of each rank that are kept there
  std::string config;                     // the file that some of these come from; empty: none
  std::vector<std::string> command_line;  // for the line that repeats a test
};

using Totals = std::array<int, kVerdictCount>;  // indexed by Verdict

inline constexpr std::size_t kAppearedMax = 1000;

struct RunRecord {
  std::string run_id;
  std::int64_t started_wall_ns = 0;
  Nanoseconds duration{};
  Machine machine;
  Settings settings;
  Totals totals{};
  std::vector<Problem> problems;
  std::vector<TestRecord> tests;
  std::vector<HostRecord> hosts;  // in the order in which they ended
  // Names that appeared meanwhile, are still there and may be anybody's: they change no verdict. At most kAppearedMax.
  std::vector<std::string> appeared;
  int selected = 0;               // before the shard was taken
  std::string filter_hint;        // "; did you mean Suite.name?", if the filter selected nothing
  int not_run = 0;                // selected, but the run ended before them
  std::vector<std::string> gone;  // ids of settings.rerun that their plugin no longer has
  bool interrupted = false;

  int total(Verdict verdict) const { return totals[static_cast<std::size_t>(verdict)]; }
};

// The exit code of a run, section "exit codes" of the manual: 0 all passed or flaky, 1 some did not,
// 3 infra error, 4 nothing ran, 130 interrupted. Precedence 130, 3, 1, 4. (2 is a usage error.)
// A shard that got none of the tests has done its part: 0.
bool is_empty_shard(const RunRecord& run) noexcept;
int exit_code_of(const RunRecord& run) noexcept;

}  // namespace distrun::runner
