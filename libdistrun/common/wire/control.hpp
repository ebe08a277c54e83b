#pragma once
// The control line between a rank and its coordinator. A rank sends hello, gets its orders with run, reports phases,
// errors and messages, and ends with done. A frame's rank is that of the sender (or, towards a rank, of the receiver),
// so that one connection can serve several ranks of a process.
#include <cstdint>
#include <string>
#include <vector>

#include <distrun/common/wire/codec.hpp>
#include <distrun/common/wire/frame.hpp>
#include <distrun/common/wire/stacks.hpp>

namespace distrun::wire {

// Incremented when a message changes. Coordinator and ranks of the same build agree by construction; others refuse.
inline constexpr std::uint32_t kControlAbi = 8;

enum class ControlFrame : std::uint16_t {
  // rank to coordinator
  Hello = 1,
  Phase = 2,
  Error = 3,
  Skip = 4,
  Stacks = 5,  // RawStacks
  BarrierEnter = 6,
  Message = 7,  // both ways
  Note = 8 | kOptionalKind,
  Done = 9,
  ReceiveWait = 10,
  Leak = 11,
  ReceiveEnd = 12,
  Measure = 13 | kOptionalKind,
  // coordinator to rank
  Run = 32,
  DumpStacks = 33 | kOptionalKind,
  PeerFailed = 34,
  BarrierRelease = 35,
  Finish = 36,  // no longer wait for a debugger
  PeerFinished = 37,
  Dismiss = 38,  // there is no further order: exit
  PeerDied = 39 | kOptionalKind,
};
bool is_known(ControlFrame kind) noexcept;

enum class Phase : std::uint8_t { Spawn, Load, Rendezvous, SetUp, Body, TearDown, Exit };
inline constexpr int kPhaseCount = 7;
const char* name_of(Phase phase) noexcept;  // "set-up"

struct KeyValue {
  std::string key;
  std::string value;
  friend bool operator==(const KeyValue&, const KeyValue&) = default;
};
DISTRUN_FIELDS(KeyValue, m.key, m.value)

struct Hello {
  std::uint32_t abi = kControlAbi;
  std::int32_t pid = 0;
};
DISTRUN_FIELDS(Hello, m.abi, m.pid)

// Limits of the settings that a suite's host may pass to its ranks.
inline constexpr std::size_t kSuiteSettingsMax = 1000;
inline constexpr std::size_t kSuiteSettingsBytesMax = std::size_t{1} << 20;  // of keys and values

// A shared directory, and its modification time when the attempt began; -1: it may have changed unnoticed since.
struct WatchedDirectory {
  std::string path;
  std::int64_t modified_ns = -1;
};
DISTRUN_FIELDS(WatchedDirectory, m.path, m.modified_ns)

// A name in a watched directory that the process uses; see common/base/held_names.hpp.
struct HeldName {
  std::string path;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
};
DISTRUN_FIELDS(HeldName, m.path, m.device, m.inode)

// The task of a suite's host; None: this is a rank, not a host.
enum class HostWork : std::uint8_t { None, SetUp, TearDown };

// All that a rank needs to run one test, or a suite's host to set it up. A host is rank 0 of 1; reports show it as -1.
struct RunOrder {
  std::string run_id;
  std::string test_id;
  std::int32_t rank = 0;
  std::int32_t world_size = 0;
  std::int32_t attempt = 0;          // 1 for the first
  std::int32_t coordinator_pid = 0;  // the rank exits at once if this is not its parent
  std::uint64_t seed = 0;            // of the run; a rank derives its own
  std::string backend;
  std::string agent;
  std::string gpu_driver;
  std::int32_t gpus = 0;
  bool leaks_strict = false;              // look for descriptors and threads that the test leaves behind
  bool debug = false;                     // begin once a debugger is attached
  bool stay = false;                      // wait for another order after this one
  bool threads = false;                   // the ranks are threads of this process
  bool quick_exit = false;                // exit without exit handlers and static destructors
  std::string temp_dir;                   // of the attempt, shared by its ranks
  std::string work_dir;                   // of this rank
  std::string tmp_dir;                    // its TMPDIR: files that stay there are leaks
  std::vector<WatchedDirectory> watched;  // Done reports the names there that the process holds
  std::string init_method;
  std::vector<KeyValue> env;  // set in the rank before anything else
  std::string cpus;           // that it runs on: "0-3,8"; empty: any
  std::string suite;
  bool suite_code = false;  // the suite has set-up and tear-down code in the rank
  HostWork host = HostWork::None;
  std::int32_t run_world_size = 0;       // of --world-size, for the host
  std::string suite_dir;                 // shared by the suite's host and ranks; empty: no host
  std::vector<KeyValue> suite_settings;  // set by the host
};
DISTRUN_FIELDS(RunOrder, m.run_id, m.test_id, m.rank, m.world_size, m.attempt, m.coordinator_pid, m.seed, m.backend,
               m.agent, m.gpu_driver, m.gpus, m.leaks_strict, m.debug, m.stay, m.threads, m.quick_exit, m.temp_dir,
               m.work_dir, m.tmp_dir, m.watched, m.init_method, m.env, m.cpus, m.suite, m.suite_code, m.host,
               m.run_world_size, m.suite_dir, m.suite_settings)

struct PhaseChange {
  Phase phase = Phase::Spawn;
};
DISTRUN_FIELDS(PhaseChange, m.phase)

struct ErrorReport {
  std::string type;  // "CheckFailed", "std::runtime_error", "ValueError"
  std::string text;
  std::string file;
  std::uint32_t line = 0;
  std::string stack;
  bool ends_body = false;        // false for a failed EXPECT, after which the body goes on
  std::int32_t because_of = -1;  // the rank that caused this error; -1: unknown
  RawStacks thrown_at{};         // one thread, with the stack of the throw; empty: unknown
};
DISTRUN_FIELDS(ErrorReport, m.type, m.text, m.file, m.line, m.stack, m.ends_body, m.because_of, m.thrown_at)

struct SkipReport {
  std::int32_t code = 86;  // of the skip table (common/wire/skip_table.hpp)
  std::string reason;
};
DISTRUN_FIELDS(SkipReport, m.code, m.reason)

struct BarrierEnter {
  std::string name;
};
DISTRUN_FIELDS(BarrierEnter, m.name)

struct BarrierRelease {
  std::string name;
  std::string error;  // empty: all have arrived
  std::int32_t because_of = -1;
};
DISTRUN_FIELDS(BarrierRelease, m.name, m.error, m.because_of)

// Sent from one rank to another, through the coordinator.
struct RankMessage {
  std::int32_t from = 0;
  std::int32_t to = 0;
  std::string tag;
  std::string data;
};
DISTRUN_FIELDS(RankMessage, m.from, m.to, m.tag, m.data)

// A rank has no message to receive and waits. If the sender will not send any more, the coordinator answers
// PeerFinished; otherwise nothing. ReceiveEnd has the same content: the rank no longer waits, for any reason. (A
// message sent by the coordinator does not end the wait: the rank may have received it before it began to wait.)
struct ReceiveWait {
  std::int32_t from = -1;  // -1: any rank
  std::string tag;
  bool operator==(const ReceiveWait&) const = default;
};
DISTRUN_FIELDS(ReceiveWait, m.from, m.tag)

// Sent after every message of that rank.
struct PeerFinished {
  std::int32_t rank = 0;
};
DISTRUN_FIELDS(PeerFinished, m.rank)

// Something that the test has left behind in its own process.
struct LeakReport {
  bool thread = false;  // else a descriptor, or `state`
  std::string what;     // "5 (/tmp/x)"
  bool state = false;   // changed state: "the handler of SIGUSR1"; with `thread`: test code that still runs
};
DISTRUN_FIELDS(LeakReport, m.thread, m.what, m.state)

struct Note {
  std::string key;
  std::string value;
};
DISTRUN_FIELDS(Note, m.key, m.value)

// A value that a rank has measured.
struct Measure {
  std::string name;
  double value = 0;
  std::string unit;  // may be empty
  friend bool operator==(const Measure&, const Measure&) = default;
};
DISTRUN_FIELDS(Measure, m.name, m.value, m.unit)

struct PeerFailed {
  std::int32_t rank = 0;
  std::string text;
};
DISTRUN_FIELDS(PeerFailed, m.rank, m.text)

// Sent for each rank that has died as the test has declared, which is no failure.
struct PeerDied {
  std::int32_t rank = 0;
};
DISTRUN_FIELDS(PeerDied, m.rank)

struct Done {
  bool passed = false;
  std::uint64_t checks = 0;                // run on this rank
  std::vector<KeyValue> suite_settings{};  // from a host that has set up its suite
  std::vector<HeldName> held{};            // names in the watched directories; only if one has changed
  bool used_up = false;                    // the process is no longer as it began: it cannot run another test
};
DISTRUN_FIELDS(Done, m.passed, m.checks, m.suite_settings, m.held, m.used_up)

}  // namespace distrun::wire
