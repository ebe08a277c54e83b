#pragma once
// The life of a rank: hello, order, run, done, exit. Both forked ranks, with a loaded plugin, and ranks started by
// exec, with its path, enter here.
#include <cstdint>
#include <string>

#include <distrun/common/base/fd.hpp>
#include <distrun/common/wire/zygote.hpp>
#include <distrun/plugin/rank/plugin.hpp>

namespace distrun::rank {

// `board` is the memory in which this rank shows what it does (libdistrun/board). If `plugin` is null, the rank loads
// `path` itself, in the phase "load". The rank runs in the mounts of `space`.
[[noreturn]] void run_rank(base::Fd control, base::Fd board, const Plugin* plugin, const std::string& path,
                           const wire::MountSpace& space);

// Allows the coordinator and its children, such as the probe, to trace this process where Yama restricts that to
// ancestors. No effect elsewhere.
void let_probe_in(std::int32_t coordinator_pid);

// Call it before any plugin is loaded, so that the plugin's exit handlers and static destructors run before the
// listener ends.
void prepare_to_leave();

// Exits from a process that is not a rank. Skips the plugin's unloading: faults in it are reported for its ranks.
[[noreturn]] void leave_at_once(int code);

// The parent of this process may be a command like strace that has started it, instead of the coordinator.
void expect_wrapper();

// Ends this process with the coordinator, its parent, and lets the coordinator trace it. Kept through exec.
void depend_on(std::int32_t coordinator_pid);

}  // namespace distrun::rank
