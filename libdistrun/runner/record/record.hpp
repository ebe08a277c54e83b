#pragma once
// The record of a run: written by the supervisor, read by the judge, printed by every report. Plain values.
#include <array>
#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/base/isolation.hpp>
#include <distrun/common/base/rank_hosts.hpp>
#include <distrun/common/board/slot_reader.hpp>
#include <distrun/common/wire/control.hpp>
#include <distrun/common/wire/plugin_table.hpp>
#include <distrun/runner/evidence/stacks/stacks.hpp>
#include <distrun/runner/evidence/stacks/text_line.hpp>
#include <distrun/runner/proc/capture.hpp>
#include <distrun/runner/record/doctor/hang_cause.hpp>
#include <distrun/runner/record/outcome.hpp>
#include <distrun/runner/record/wrapper.hpp>

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
  int because_of = -1;    // the rank that caused it by its failure
  Nanoseconds at{};       // since the attempt began
  bool is_crash = false;  // reported by a crash handler or a sanitizer, not by the test
};

// When something happened on another machine, by this one's clock.
struct RemoteTime {
  Nanoseconds at{};     // since the attempt began
  Nanoseconds error{};  // at most so wrong, in either direction
};

struct RankRecord {
  int rank = 0;      // -1: the host of the suite
  int pid = 0;       // 0: never started
  std::string host;  // where it ran; empty: this machine
  Outcome outcome;
  int exit_code = -1;                      // as reported by the kernel; -1: none
  int signal = 0;                          // 0: none
  wire::Phase phase = wire::Phase::Spawn;  // the last one that it entered
  std::uint64_t checks = 0;
  Nanoseconds started{};  // since the attempt began
  Nanoseconds ended{};
  Nanoseconds body_began{};  // the same; 0: its body did not begin
  Nanoseconds body_ended{};  // 0: its body did not end
  // When the decisive event of its outcome was learned, as a position among all such events of the attempt; 0: not yet.
  // The judge uses it to find the first cause.
  int decided = 0;
  std::optional<RemoteTime> failed_at;  // when its machine has seen its failure; empty: this machine, or it has none
  int because_of = -1;                  // the rank that caused this outcome by its own
  bool outlived_failure = false;        // it was alive when the first failure was decided, or went on
  bool declared_death = false;          // it died as the test had declared
  // How it ended after its result, if that was bad and its process had run other tests too: any of them may be why.
  std::optional<Outcome> bad_end;
  bool body_passed = false;       // reported before it ended: later errors belong to the exit
  std::string waiting_in;         // the barrier, message or other object that it waited for when it was ended
  std::vector<RankError> errors;  // in order of arrival, at most 100
  std::vector<wire::KeyValue> notes;
  std::vector<wire::Measure> measures;  // in order of arrival, at most 1000; finite
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
  bool removed = false;  // false: left in place; the user should check
};

// The reason for a snapshot.
enum class SnapshotKind : std::uint8_t { Timeout, Crash, Slow, Asked, Exception, Deadlock, Suspect, Failure };
inline constexpr int kSnapshotKindCount = 8;
const char* name_of(SnapshotKind kind) noexcept;  // "timeout"

// The state of a rank on the board at the time of a snapshot.
struct RankView {
  int rank = 0;
  std::optional<board::Shown> shown;  // nothing if it showed nothing
  bool progressed = false;            // it did something on the board while the stacks were read
};

// A snapshot of the ranks: what they showed on the board, and the stacks of their threads.
struct Snapshot {
  SnapshotKind kind = SnapshotKind::Timeout;
  Nanoseconds at{};  // since the attempt began
  Nanoseconds took{};
  // Monotonic clock, for the times on the board. Those of other machines are converted, with an error of up to 1 ms.
  std::int64_t at_ns = 0;
  base::RankHosts hosts;  // of the ranks
  std::vector<RankView> ranks;
  evidence::Stacks stacks;
  // Waits for ranks may end soon, though nothing else here shows it: a rank had not started yet, or something was sent
  // to a rank meanwhile.
  bool has_news_in_flight = false;
  std::vector<evidence::Line> text;  // the text for readers
};

// Why an attempt got its verdict; describe.hpp puts it into words.
enum class CauseKind : std::uint8_t {
  None,          // it passed
  Stopped,       // by the user
  Infra,         // distrun could not do its part
  Host,          // the suite's host died
  NoRanks,       // there were no ranks to run
  Action,        // something that the culprits did
  Awaited,       // other ranks waited for the culprits until they timed out
  LeftEarly,     // the culprit had finished while others still needed it
  Unknown,       // the culprit was ended for an unknown reason
  Deadlock,      // ranks or their threads could never continue
  Disagreement,  // some skipped, but others did not, or for another reason
  Skipped,       // all skipped for one reason
  LeftBehind,    // something outlived the ranks
};
inline constexpr int kCauseKindCount = 13;
const char* name_of(CauseKind kind) noexcept;  // "action", "left-early"

struct Cause {
  CauseKind kind = CauseKind::None;
  int rank = -1;  // the rank that shows it: it acted first, had to wait, was left, or skipped; -1: none
};

enum class AttemptKind : std::uint8_t { First, Repeat, Retry };
const char* name_of(AttemptKind kind) noexcept;

struct AttemptRecord {
  int n = 1;  // counts all attempts of the test
  AttemptKind kind = AttemptKind::First;
  Verdict verdict = Verdict::Pass;
  Cause cause;
  std::string message;                    // the cause in one line, the first cause first; empty on a pass
  std::vector<int> culprits;              // ranks to look at first
  wire::Phase phase = wire::Phase::Exit;  // the phase that decided it
  Nanoseconds duration{};
  std::vector<RankRecord> ranks;
  std::vector<Leak> leaks;
  // Why it hung, the headline first: proven causes are set while it runs, others when it is judged. Empty: it did not.
  std::vector<HangCause> hang;
  std::vector<Snapshot> snapshots;  // in chronological order, at most 10
  std::string infra_error;          // why distrun could not do its part; empty: it could
  std::string lost_host;  // how the suite's host died during the attempt: "was killed by signal 9 (SIGKILL)"; or empty
  bool cancelled = false;
  std::string cancelled_because;  // "the allocation (Slurm job 17) ends in 10 s"; empty: the user has cancelled it
  std::string trace;              // the file with the ranks' traces; empty: none
};

// Returns the hosts of its ranks, to name them in texts.
base::RankHosts hosts_of(const AttemptRecord& attempt);

// Fields of the report that are not part of a test's id.
struct Variant {
  int world_size = 0;
  std::string backend;
  std::string agent;
  std::string gpu_driver;
  Isolation isolation = Isolation::Process;  // the one used
  std::string isolation_reason;              // why not the requested one; empty: it is
};

inline constexpr std::size_t kStressKindsMax = 20;

// Failures of a stress run with one verdict and, but for numbers, one message.
struct StressFailure {
  Verdict verdict = Verdict::Fail;
  std::string message;  // of the first
  int count = 0;
  int attempt = 0;  // number of the first
};

// The attempts of a test in a stress run (record/stress.hpp).
struct StressRecord {
  int runs = 0;
  int failures = 0;
  Nanoseconds total{};  // sum of durations
  Nanoseconds longest{};
  std::vector<StressFailure> kinds;  // the first kStressKindsMax; at the end of the run the most frequent first
};

struct TestRecord {
  wire::TestInfo info;
  std::string plugin;  // path as given
  Variant variant;
  Verdict verdict = Verdict::Pass;
  std::string message;
  Nanoseconds duration{};
  std::vector<AttemptRecord> attempts;  // empty for a test that was skipped before any rank started
  // In a stress run the numbers of all attempts, of which `attempts` has the first of each kind of failure.
  std::optional<StressRecord> stress;
};

// The host of a suite: the process for its code outside the ranks.
struct HostRecord {
  std::string plugin;
  std::string suite;
  Verdict verdict = Verdict::Pass;
  std::string message;   // like a test's
  Nanoseconds set_up{};  // duration of the set-up
  Nanoseconds tear_down{};
  RankRecord rank;  // like a rank's, with the number -1
};

// A problem that kept tests from running: a plugin that cannot be listed, a report that cannot be written.
struct Problem {
  std::string plugin;  // empty: concerns no plugin
  std::string phase;   // "list", "load", "report", "start"
  std::string text;
};

struct Machine {
  std::string hostname;
  std::string kernel;
  int cpus = 0;
  std::uint64_t memory_bytes = 0;
};

// Part `index` (from 1) of `count` parts of a run's tests. 1 of 1: all tests.
struct Shard {
  int index = 1;
  int count = 1;
};

// A test of an earlier run, with the plugin's path as given then.
struct TestName {
  std::string plugin;
  std::string id;
};

// What follows when a deadlock is proven before the timeout.
enum class DeadlockPolicy : std::uint8_t {
  Off,      // nothing is looked for
  Report,   // it is told, and the test goes on to its timeout
  Verdict,  // the attempt ends with the verdict deadlock
};
inline constexpr int kDeadlockPolicyCount = 3;
const char* name_of(DeadlockPolicy policy) noexcept;  // "verdict"

// The CPUs that ranks run on (attempt/cpu_binding.hpp).
enum class Bind : std::uint8_t {
  None,  // any
  Core,  // cores of their own
  Numa,  // those of one NUMA node
};
inline constexpr int kBindCount = 3;
const char* name_of(Bind bind) noexcept;  // "core"

// Whether programs get a world of MPI (runner/mpi/server.hpp).
enum class MpiUse : std::uint8_t {
  Auto,  // if they are linked with an MPI that can join one
  On,
  Off,
};
inline constexpr int kMpiUseCount = 3;
const char* name_of(MpiUse use) noexcept;  // "auto"

// Settings of the tests that a filter selects (plan/overrides.hpp).
struct Override {
  std::string filter;
  Nanoseconds timeout{};  // of the body; 0: unchanged
  int retries = -1;       // -1: unchanged
  std::vector<std::string> tags;
  std::vector<std::string> locks;
  int world_size = 0;  // of tests that do not fix one; 0: unchanged
};

// How many tests with a lock may run at the same time; one, unless it is said.
struct LockLimit {
  std::string lock;
  int tests = 1;
};

struct Settings {
  std::vector<std::string> plugins;
  std::vector<std::string> program;  // of `distrun exec`, instead of plugins: argv
  std::string program_path;
  std::string program_name;  // its name in reports; empty: that of the program or its script
  int stdin_rank = -1;       // the rank that reads stdin_fd; -1: none
  int stdin_fd = -1;
  bool keep_output = true;  // keep the ranks' output in the record
  MpiUse mpi = MpiUse::Auto;
  int world_size = 4;
  std::vector<int> world_sizes;  // of --world-size if there are several, world_size first; otherwise empty
  std::string backend = "shm";
  std::string agent = "pipe";
  std::string rpc_transport = "best";
  std::string faults;  // for the agent "faulty": "SEED:PLAN" (common/wire/fault_plan.hpp); empty: none
  std::string gpu_driver = "auto";
  int gpus = 0;            // number of the driver's devices
  std::string why_no_gpu;  // "this machine has no NVIDIA device"; empty: it has one
  std::string hosts;       // of --hosts; empty: this machine, or Slurm's allocation
  std::string launcher;    // of --launcher; empty: the default
  int per_host = 0;        // 0: not said
  Isolation isolation = Isolation::Process;
  std::vector<std::string> filters;
  std::string rerun_failed;     // the summary from which failed tests are rerun; empty: any test runs
  std::vector<TestName> rerun;  // these tests
  Shard shard;
  bool shuffle = false;                             // the order of the tests depends on the seed
  Nanoseconds timeout = std::chrono::seconds(300);  // 0: none
  Nanoseconds timeout_override{};                   // 0: none
  int debug_rank = -1;                              // starts under a debugger, without bounds; -1: none
  Nanoseconds stacks_after{};                       // time in a test's body after which stacks are shown; 0: never
  DeadlockPolicy deadlock = DeadlockPolicy::Verdict;
  Nanoseconds suspect_after = std::chrono::seconds(5);  // without activity, after which a line says why; 0: never
  double timeout_scale = 1.0;
  Nanoseconds peer_grace = std::chrono::milliseconds(500);       // for the other ranks when one has failed
  Nanoseconds terminate_grace = std::chrono::milliseconds(500);  // from SIGTERM to SIGKILL
  int stop_signal = SIGTERM;                                     // the first signal for ranks that must end
  int jobs = 1;                                                  // tests that run at the same time
  Bind bind = Bind::None;
  std::vector<Wrapper> wrappers;       // commands that the ranks are started under
  std::vector<LockLimit> lock_limits;  // of the tests' locks, each once
  int repeat = 1;
  int until_fail = 0;  // maximum attempts until one does not pass; 0: `repeat` applies
  int retries = 0;
  std::vector<std::string> retry_on;     // the verdicts that are retried; empty: all that are not good
  bool flaky_fails = false;              // a flaky test counts as a failure in the exit code
  Nanoseconds run_timeout{};             // of the whole run; 0: none
  Nanoseconds stress{};                  // run the tests again and again for this time; 0: do not
  std::vector<std::string> stress_load;  // kinds of load meanwhile: cpu, memory, pause
  std::vector<Override> overrides;
  bool fail_fast = false;
  std::uint64_t seed = 0;
  std::vector<wire::KeyValue> env;
  bool env_values = false;  // reports show the values of these, not only their names
  bool env_hidden = false;  // the values are missing: the settings come from a report without them
  bool leaks_strict = false;
  bool leaks_off = false;
  bool skips_pass = false;
  bool in_job = false;  // of a batch system, which signals ranks, too, when it ends the job
  bool keep_work_dir = false;
  bool private_tmp = false;               // each attempt has a private /tmp and /dev/shm
  bool core = false;                      // ranks that crash leave core files
  bool quick_exit = false;                // ranks end without exit handlers and static destructors
  std::string trace_dir;                  // directory for a trace file per attempt; empty: none
  std::uint64_t trace_records = 1 << 16;  // records kept of each rank
  std::string config;                     // the file that some settings come from; empty: none
  std::vector<std::string> command_line;  // for the command line that repeats a test
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
  // Names that appeared during the run, still exist and may be anyone's: they change no verdict. At most kAppearedMax.
  std::vector<std::string> appeared;
  std::vector<std::string> notices;  // what the user was told besides, which changes no verdict
  int selected = 0;                  // before sharding
  bool uses_backend = false;         // a plugin with selected tests calls process groups
  bool uses_agent = false;           // the same for RPC
  std::string filter_hint;           // "; did you mean Suite.name?", if the filter selected nothing
  int not_run = 0;                   // selected, but not run before the run ended
  std::vector<std::string> gone;     // ids of settings.rerun that their plugin no longer has
  bool interrupted = false;

  int total(Verdict verdict) const { return totals[static_cast<std::size_t>(verdict)]; }
};

// The exit code of a run, section "exit codes" of the manual: 0 all passed or flaky, 1 some did not, 3 infra error, 4
// nothing ran, 130 interrupted. Precedence 130, 3, 1, 4. (2 is a usage error.) A shard that got no tests has done its
// part: 0.
bool is_empty_shard(const RunRecord& run) noexcept;
int exit_code_of(const RunRecord& run) noexcept;

}  // namespace distrun::runner
