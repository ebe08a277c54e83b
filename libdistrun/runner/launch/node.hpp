#pragma once
// A node is a machine that runs ranks. The runner and the reports see ranks only through these interfaces; this machine
// is one implementation, others can follow. Lives on: the coordinator's loop.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/base/held_names.hpp>
#include <distrun/common/base/isolation.hpp>
#include <distrun/common/board/slot_reader.hpp>
#include <distrun/common/io/task.hpp>
#include <distrun/common/trace/reader.hpp>
#include <distrun/common/wire/frame.hpp>
#include <distrun/common/wire/plugin_table.hpp>
#include <distrun/common/wire/zygote.hpp>
#include <distrun/runner/evidence/stacks/stacks.hpp>
#include <distrun/runner/launch/output_sink.hpp>
#include <distrun/runner/launch/resources.hpp>
#include <distrun/runner/proc/capture.hpp>
#include <distrun/runner/proc/exit_status.hpp>

namespace distrun::launch {

// The program that ranks run with the isolation Program, instead of a plugin.
struct ProgramSpec {
  std::string path;                    // of the executable
  std::vector<std::string> arguments;  // from argv[0] on
  // Three lists of variables ("KEY=value"), each of which overrides those before it: the environment of all ranks; the
  // place of each rank that runs here; and what the user has set for all ranks.
  std::vector<std::string> environment;
  std::vector<std::vector<std::string>> variables;
  std::vector<std::string> overrides;
  std::vector<std::string> cpus;  // for each of these ranks, those that it runs on: "0-3,8"; empty: any
  int stdin_rank = -1;            // the rank that reads `stdin_fd`; the others read /dev/null
  int stdin_fd = -1;              // owned by the caller
  // Only worlds on other machines use this: whether to keep output up to the usual limit, or only the end of standard
  // error.
  bool keep_output = true;
};

// A directory or file that ranks also see at another path.
struct Mount {
  std::string from;
  std::string to;
};

// Mounts that only ranks started with them can see. They disappear with this object and the last of those ranks.
class MountSpace {
 public:
  virtual ~MountSpace() = default;
  virtual wire::MountSpace name() const = 0;
};

struct WorldSpec {
  std::string plugin;
  Isolation isolation = Isolation::Process;  // as Prepared says
  int world_size = 1;
  int first_rank = 0;                                // of those that run here
  int ranks_here = 0;                                // their number; 0: all
  ProgramSpec program{};                             // for the isolation Program
  std::shared_ptr<const MountSpace> space{};         // the ranks' mounts; null: those of the machine
  std::vector<std::vector<std::string>> wrappers{};  // by rank: the command that it is started under; empty: none
  // Only a node on another machine uses these: it completes the ranks' orders.
  std::string test{};               // id
  bool env_rendezvous = false;      // ranks get $RANK and $LOCAL_RANK
  bool own_gpu = false;             // each rank is to see a device of its own
  int lane = -1;                    // the run's lane: ranks may be bound to its CPUs; -1: none
  std::uint64_t trace_records = 0;  // that each rank may keep in its trace; 0: they are not traced
};

// The kernel's view of a rank's process.
struct ProcessState {
  bool exists = false;    // it has threads
  bool ends = false;      // it has ended, or all its threads are exiting
  bool stopped = false;   // by a signal
  bool debugged = false;  // a process that is neither ours nor from the ranks traces it
};

// A moment by this machine's monotonic clock, from that of another one.
struct Moment {
  base::TimePoint at{};
  base::Nanoseconds error{};  // at most so wrong, in either direction
};

// How the ranks of a world are spread over machines other than the coordinator's.
struct Spread {
  std::vector<std::string> host_of;  // by rank: the name of its host
  std::string hosts;                 // "node01=0-3;node02=4-7": $DISTRUN_HOSTS of the ranks
  std::string master_address;        // of the host of rank 0, as other hosts reach it
  int master_port = 0;               // that was free there a moment ago, as was the next
  int rendezvous_port = 0;
  std::string store;  // "tcp://10.0.0.1:4000": $DISTRUN_STORE of the ranks
};

// Something that the ranks have left behind on their machine.
struct LeftBehind {
  std::uint8_t kind = 0;  // runner::LeakKind
  std::string what;
  bool removed = false;
};

// A process that outlived the ranks that started it.
struct Leftover {
  std::string process;  // "4711 (sleep 100)"
  bool ends = false;    // it is already ending; the kernel clears it away
  int pid = 0;
};

// The result of ending leftovers.
struct EndedLeftovers {
  std::vector<std::string> processes;  // those that had to be killed, whether seen before or not
  int left = 0;                        // how many still exist
};

// The events of a world. Calls come one at a time on the loop, never from inside a call to World or Node.
class WorldEvents {
 public:
  virtual ~WorldEvents() = default;
  virtual void on_rank_started(int rank, int pid) = 0;
  virtual void on_frame(int rank, const wire::Frame& frame) = 0;
  // The rank's connection is closed or carries nonsense; the rank may live on.
  virtual void on_connection_lost(int rank, const std::string& why) = 0;
  // A process forked by the rank returned from the test's body. May be called repeatedly.
  virtual void on_stray_child(int /*rank*/) {}
  // The rank was reaped. All its frames have been delivered; output may still arrive. If ranks share a process, the
  // rank that ended it comes first, and the others follow with `because_of` set to it; -1: its own end.
  virtual void on_rank_ended(int rank, proc::ExitStatus status, int because_of) = 0;
  // Ranks that have not been reported as started will not start.
  virtual void on_spawn_failed(const std::string& why) = 0;
  // The machine of these ranks is lost: nothing more will be heard of them. on_rank_ended() follows for each that has
  // been reported as started.
  virtual void on_host_lost(const std::vector<int>& /*ranks*/, const std::string& why) { on_spawn_failed(why); }
  // The rank's process has become its program. Programs only.
  virtual void on_program(int /*rank*/) {}
  // The rank has written output. Programs only. Also called from inside finish_output().
  virtual void on_output(int /*rank*/, Stream /*stream*/, std::string_view /*bytes*/) {}
};

struct StackOrder {
  int samples = 3;                                    // to distinguish spinning from waiting
  base::Nanoseconds bound = std::chrono::seconds(1);  // what has not arrived by then is left out
  int descendants = 0;                                // the most processes started by the targets that are included
  bool gentle = false;                                // stops and asks no rank: only sleeping threads have stacks
  // Beyond the bound: the time that threads get to return to their waits after the stop. Then their CPU times are read
  // again, which a later look can compare with its own. 0: they are not.
  base::Nanoseconds settle{};
  std::vector<wire::AdoptedProcess> adopted{};  // descendants of ranks on this machine that these have not forked
};
using OnStacks = std::function<void(evidence::Stacks)>;

// The ranks of one attempt. Destroying a world with living ranks kills them.
class World {
 public:
  virtual ~World() = default;
  // Does nothing if the rank has ended. Throws Error{Overloaded} if the rank does not read.
  virtual void send(int rank, wire::Bytes packed) = 0;
  // Signals the rank and each process of its group once; does nothing if the rank has ended.
  virtual void signal(int rank, int signal) = 0;
  // Signals only the rank's process, as from outside; does nothing if it has ended. Programs only.
  virtual void signal_process(int /*rank*/, int /*signal*/) {}
  // Returns what the rank shows on the board: nothing before it begins, the last state after its end. Never blocks.
  virtual std::optional<board::Shown> shown(int rank) const = 0;
  // Returns the epoch of that, which changes when the rank makes progress; 0 if it shows nothing.
  virtual std::uint64_t epoch(int rank) const {
    const auto seen = shown(rank);
    return seen ? seen->epoch : 0;
  }
  // Reads the stacks of all living ranks, from outside and, where that is refused, from inside. Calls `on_stacks` once,
  // within the bound (three times that on a busy machine), unless the world is destroyed first.
  virtual void collect_stacks(const StackOrder& order, OnStacks on_stacks) = 0;
  // Returns what a crashed rank has recorded of its last moment, or nothing if it could not.
  virtual std::optional<board::Dump> crash(int rank) const = 0;
  // Adds names to stacks that ranks have recorded themselves; `source` says how. Completes like collect_stacks(); a
  // process's index is its position in `by_rank`.
  virtual void name_stacks(const char* source, std::vector<std::pair<int, wire::RawStacks>> by_rank,
                           base::Nanoseconds bound, OnStacks on_stacks) = 0;
  // Returns how long the rank's process, so far, has been ready to run without a CPU: the maximum over its threads.
  virtual base::Nanoseconds cpu_wait(int rank) const = 0;
  // Returns how much CPU time the rank's process has used so far.
  virtual base::Nanoseconds cpu_time(int rank) const = 0;
  // Returns the state of the rank's process; all false before it starts.
  virtual ProcessState process_state(int rank) const = 0;
  // The output read so far.
  virtual proc::Captured standard_output(int rank) const = 0;
  virtual proc::Captured standard_error(int rank) const = 0;
  // Reads the rest of the pipes, once no process writes any more.
  virtual void finish_output() = 0;
  // Stops reading, so that ranks that write block, or resumes it. Programs only.
  virtual void hold_output(bool /*hold*/) {}
  // Drops the output read so far: it belongs to another test.
  virtual void forget_output() = 0;
  // This and the next three: worlds on this machine; elsewhere inspect() and sweep() do it. Returns whether any process
  // started by the living ranks is running.
  virtual bool has_offspring() { return false; }
  // Returns the leftovers that still exist.
  virtual std::vector<Leftover> leftovers() { return {}; }
  // Returns the names in these directories that leftovers have open.
  virtual std::vector<base::HeldName> held_by_leftovers(const std::vector<std::string>& /*directories*/) { return {}; }
  // Kills leftovers and what they have started. Blocks for at most a few milliseconds.
  virtual EndedLeftovers end_leftovers() { return {}; }
  // Returns where the ranks of a world on other machines run, complete before the first frame of a rank arrives; null:
  // they run on this machine.
  virtual const Spread* spread() const { return nullptr; }
  // Returns when the rank's machine has seen the rank's latest event; nothing: it is this machine, or its clock is not
  // known yet.
  virtual std::optional<Moment> seen_at(int /*rank*/) const { return std::nullopt; }
  // This and the next four: worlds on other machines only, since nodes provide for ranks there. Looks whether ranks
  // that wait for another order have left anything behind, and fetches their output. Calls `on_inspected` once, unless
  // the world is destroyed or swept first.
  virtual void inspect(std::function<void(bool is_clean)> on_inspected) { on_inspected(true); }
  // These ranks are kept: their test is over. `holds`: they go on using the directories and the store that it had.
  virtual void keep(bool /*holds*/) {}
  // Kept ranks are about to get orders for the test of `spec`, with which spread() agrees from now on.
  virtual void renew(const WorldSpec& /*spec*/) {}
  // Fetches what the ranks have recorded so far. Calls `on_traces` once, with an entry for each rank, unless the world
  // is destroyed or this is called again first.
  virtual void read_traces(std::function<void(std::vector<trace::RankTrace>)> on_traces) { on_traces({}); }
  // Finds and ends what the ranks have left, and fetches the rest of their output. `patient`: what ends by itself soon
  // is not left behind. Call when all ranks have ended; calls `on_swept` once, within the bound of a sweep, unless the
  // world is destroyed first.
  virtual void sweep(bool /*patient*/, std::function<void(std::vector<LeftBehind>)> on_swept) { on_swept({}); }
};

// How machines are made busy (machine_load.hpp).
struct LoadPlan {
  bool cpu = false;     // threads that compute
  bool memory = false;  // threads that write memory
  bool pause = false;   // ranks that are stopped for moments
  std::uint64_t seed = 0;
};

struct Prepared {
  Isolation isolation = Isolation::Process;
  std::string reason;  // why ranks do not start as requested; empty: they do
};

class Node {
 public:
  virtual ~Node() = default;
  // Asks a plugin for its tests. Throws Error with the plugin's name, what happened (it crashed, ended, hung for longer
  // than `bound`, or sent nonsense) and the end of its output.
  virtual io::Task<wire::PluginTable> list(std::string plugin, wire::ListOrder order, base::Nanoseconds bound) = 0;
  // Prepares the node to spawn ranks of a plugin; may be repeated. Throws like list().
  virtual io::Task<Prepared> prepare(std::string plugin, Isolation isolation, base::Nanoseconds bound) = 0;
  // Creates mounts for ranks, in this order. Throws Error{Failed} with what the kernel has denied.
  virtual io::Task<std::shared_ptr<MountSpace>> make_mounts(std::vector<Mount> mounts) = 0;
  // Starts the ranks of one attempt of a prepared plugin. `events` must outlive the world. Never throws: failures are
  // reported by on_spawn_failed.
  virtual std::shared_ptr<World> spawn(const WorldSpec& spec, WorldEvents& events) = 0;
  // Returns whether worlds run on other machines than this: World::spread() says which.
  virtual bool is_spread() const { return false; }
  // Returns what these machines have, in the order in which ranks fill them; empty: worlds run on this machine.
  virtual std::vector<Resources> machines() const { return {}; }
  // Returns how many ranks of a world each of them runs. A world that does not fit on them counts for the first one.
  virtual std::vector<int> split(int world_size) const { return {world_size}; }
  // This and the next two: nodes on other machines, which provide for their ranks. Throws Error{Failed} with the reason
  // if one of them cannot give its ranks private directories.
  virtual io::Task<void> require_private_tmp() { co_return; }
  // Makes the machines busy until end_load(). Throws Error{Overloaded} with the reason if one of them cannot be.
  virtual io::Task<void> begin_load(LoadPlan /*plan*/) { co_return; }
  virtual void end_load() {}
  // Exempts a child of this process that belongs to no rank: it is no leftover.
  virtual void spare(int pid) = 0;
  // Makes current listing and loading fail soon.
  virtual void cancel() = 0;
  // Releases a plugin: its zygote ends.
  virtual void release(const std::string& plugin) = 0;
  // Ends every process that the node started. Idempotent.
  virtual void close() = 0;
};

}  // namespace distrun::launch
