#pragma once
// A node is a machine where ranks run. The runner and the reports see ranks only through these
// interfaces; this machine is one implementation, others can follow. Lives on: the coordinator's loop.
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
#include <distrun/common/wire/frame.hpp>
#include <distrun/common/wire/plugin_table.hpp>
#include <distrun/common/wire/zygote.hpp>
#include <distrun/runner/evidence/stacks/stacks.hpp>
#include <distrun/runner/launch/output_sink.hpp>
#include <distrun/runner/proc/capture.hpp>
#include <distrun/runner/proc/exit_status.hpp>

namespace distrun::launch {

// What ranks run with the isolation Program: no plugin, but somebody's program.
struct ProgramSpec {
  std::string path;                    // of the file
  std::vector<std::string> arguments;  // from argv[0] on
  // Of each rank: "KEY=value", over the environment of this process.
  std::vector<std::vector<std::string>> variables;
  int stdin_rank = -1;  // the rank that reads `stdin_fd`; the others /dev/null
  int stdin_fd = -1;    // the caller's
};

// A directory or file that ranks see at another path, too.
struct Mount {
  std::string from;
  std::string to;
};

// Mounts that only the ranks see which are started with them. They are gone with this and the last of those ranks.
class MountSpace {
 public:
  virtual ~MountSpace() = default;
  virtual wire::MountSpace name() const = 0;
};

struct WorldSpec {
  std::string plugin;
  Isolation isolation = Isolation::Process;  // as Prepared says
  int world_size = 1;
  ProgramSpec program{};                      // of the isolation Program
  std::shared_ptr<const MountSpace> space{};  // in which the ranks live; null: they see what everybody sees
};

// A process that outlived the ranks that started it.
struct Leftover {
  std::string process;  // "4711 (sleep 100)"
  bool ends = false;    // by itself: the kernel clears it away
  int pid = 0;
};

// What ending them came to.
struct EndedLeftovers {
  std::vector<std::string> processes;  // that were ended, though they would have gone on; seen before or not
  int left = 0;                        // how many are still there
};

// What a world tells. Calls come one at a time on the loop, never from inside a call to World or Node.
class WorldEvents {
 public:
  virtual ~WorldEvents() = default;
  virtual void on_rank_started(int rank, int pid) = 0;
  virtual void on_frame(int rank, const wire::Frame& frame) = 0;
  // The rank's connection is gone or carries nonsense, while the rank may live on.
  virtual void on_connection_lost(int rank, const std::string& why) = 0;
  // A process that the rank has forked came back from the test's body. May be told again.
  virtual void on_stray_child(int /*rank*/) {}
  // Reaped. Every frame that it sent has been told before; its output may still come. Of ranks that share a process,
  // one that ended it is told first, and the others with `because_of` it; -1: it ended by itself.
  virtual void on_rank_ended(int rank, proc::ExitStatus status, int because_of) = 0;
  // Ranks that were not told as started by now will not be.
  virtual void on_spawn_failed(const std::string& why) = 0;
  // The rank's process has become its program. Programs only.
  virtual void on_program(int /*rank*/) {}
  // It has written. Programs only. Also from inside finish_output().
  virtual void on_output(int /*rank*/, Stream /*stream*/, std::string_view /*bytes*/) {}
};

struct StackOrder {
  int samples = 3;                                    // tell spinning from waiting
  base::Nanoseconds bound = std::chrono::seconds(1);  // what has not come by then is left out
};
using OnStacks = std::function<void(evidence::Stacks)>;

// The ranks of one attempt. Destroying a world with living ranks kills them.
class World {
 public:
  virtual ~World() = default;
  // Silent if the rank has ended. Throws Error{Overloaded} if the rank does not read.
  virtual void send(int rank, wire::Bytes packed) = 0;
  // To the rank and the processes of its group, once to each; silent if it has ended.
  virtual void signal(int rank, int signal) = 0;
  // To the rank's process alone, as somebody would who knows its pid. Silent as well. Of programs only.
  virtual void signal_process(int /*rank*/, int /*signal*/) {}
  // What the rank shows of itself; nothing before it has begun. Never blocks. Of a rank that has ended: the last.
  virtual std::optional<board::Shown> shown(int rank) const = 0;
  // Reads the stacks of all living ranks, from outside and, where that is refused, from inside. `on_stacks` is called
  // once, within the bound, or three times that on a busy machine, unless the world is destroyed before.
  virtual void collect_stacks(const StackOrder& order, OnStacks on_stacks) = 0;
  // What a rank that has crashed has left of its last moment; nothing if it could not.
  virtual std::optional<board::Dump> crash(int rank) const = 0;
  // Gives stacks that ranks have found themselves names; `source` says how they came to tell them. As collect_stacks();
  // the index of a process is that in `by_rank`.
  virtual void name_stacks(const char* source, std::vector<std::pair<int, wire::RawStacks>> by_rank,
                           base::Nanoseconds bound, OnStacks on_stacks) = 0;
  // How long the rank's process has been ready to run without a CPU, in all its life: the most of its threads.
  virtual base::Nanoseconds cpu_wait(int rank) const = 0;
  // Whether a process descends from the ranks.
  virtual bool is_from_ranks(int pid) const = 0;
  // What has been read up to now.
  virtual proc::Captured standard_output(int rank) const = 0;
  virtual proc::Captured standard_error(int rank) const = 0;
  // Reads what is in the pipes, once nobody writes any more.
  virtual void finish_output() = 0;
  // Nothing is read any more, so that ranks that write wait; or it is again. Of programs only.
  virtual void hold_output(bool /*hold*/) {}
  // What has been read up to now belonged to another test.
  virtual void forget_output() = 0;
  // Whether anything runs that the ranks have started, while they live.
  virtual bool has_offspring() = 0;
  // Those that are still there.
  virtual std::vector<Leftover> leftovers() = 0;
  // What they have to do with in these directories.
  virtual std::vector<base::HeldName> held_by_leftovers(const std::vector<std::string>& directories) = 0;
  // Kills them, and what they have started. Blocks for a few milliseconds at most.
  virtual EndedLeftovers end_leftovers() = 0;
};

struct Prepared {
  Isolation isolation = Isolation::Process;
  std::string reason;  // why ranks do not begin as they would; empty: they do
};

class Node {
 public:
  virtual ~Node() = default;
  // Asks a plugin for its tests. Throws Error with the plugin's name and what happened (and the end of
  // its output): it crashed, ended, hung for longer than `bound`, or sent nonsense.
  virtual io::Task<wire::PluginTable> list(std::string plugin, wire::ListOrder order, base::Nanoseconds bound) = 0;
  // Makes the node ready to spawn ranks of a plugin, again if it was before. Throws as list().
  virtual io::Task<Prepared> prepare(std::string plugin, Isolation isolation, base::Nanoseconds bound) = 0;
  // Makes mounts for ranks, in this order. Throws Error{Failed} with what is denied.
  virtual io::Task<std::shared_ptr<MountSpace>> make_mounts(std::vector<Mount> mounts) = 0;
  // Starts the ranks of one attempt of a prepared plugin. `events` must outlive the world.
  // Never throws: what goes wrong comes as on_spawn_failed.
  virtual std::shared_ptr<World> spawn(const WorldSpec& spec, WorldEvents& events) = 0;
  // A child of this process that belongs to no rank: nobody's leftover.
  virtual void spare(int pid) = 0;
  // Listing and loading that go on now fail soon.
  virtual void cancel() = 0;
  // Lets go of a plugin: its zygote ends.
  virtual void release(const std::string& plugin) = 0;
  // Ends every process that the node started. Idempotent.
  virtual void close() = 0;
};

}  // namespace distrun::launch
