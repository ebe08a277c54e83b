#pragma once
// The life of a rank: hello, order, run, done, end. Both kinds of rank come here: forked ones with a
// plugin that is loaded already, and those started by exec with its path.
#include <cstdint>
#include <string>

#include <distrun/common/base/fd.hpp>
#include <distrun/common/wire/zygote.hpp>
#include <distrun/plugin/rank/plugin.hpp>

namespace distrun::rank {

// `board` is the memory in which this rank shows what it does (libdistrun/board). `plugin` is null for a rank that
// loads `path` itself, in the phase "load". It lives in the mounts of `space`.
[[noreturn]] void run_rank(base::Fd control, base::Fd board, const Plugin* plugin, const std::string& path,
                           const wire::MountSpace& space);

// Where Yama lets nobody trace but ancestors, the coordinator and what it starts may: its probe. No effect elsewhere.
void let_probe_in(std::int32_t coordinator_pid);

// Before any plugin is loaded: what it registers for its exit, and its static destructors, run first, while the
// listener is there.
void prepare_to_leave();

// The end of a process that is no rank. What a plugin does when it is unloaded, and may do wrong, is told of its ranks.
[[noreturn]] void leave_at_once(int code);

// This process ends with the coordinator, which is its parent, and lets it look inside. Kept through exec.
void depend_on(std::int32_t coordinator_pid);

}  // namespace distrun::rank
