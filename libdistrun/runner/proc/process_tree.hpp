#pragma once
// Finding and ending the processes that a test leaves. The coordinator and the guard are subreapers: a
// process whose parent ends becomes theirs, so "my children" is the whole of what is left, one generation at a time.
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace distrun::proc {

// This process adopts the orphans among its descendants. Throws Error{Failed} if the kernel refuses.
void become_subreaper();

// Direct children, zombies included. One small read; needs no privilege.
std::vector<pid_t> own_children();

// Of another process, zombies included. Empty if it has ended or cannot be asked.
std::vector<pid_t> children_of(pid_t pid);
// The numbers of its threads. Empty if it is gone or cannot be asked.
std::vector<pid_t> threads_of(pid_t pid);
// Zombies do not count. False if it cannot be asked.
bool has_living_children(pid_t pid);

// "4711 (sleep 100)": the command line, or the name in brackets if it has none; "4711 (forked by a rank)" for one
// that runs no program of its own.
std::string describe_process(pid_t pid);
bool is_zombie(pid_t pid);
// What keeps it from doing anything: "it is stopped"; empty: nothing that its state would tell.
std::string describe_state(pid_t pid);
// Whether a signal has stopped it.
bool is_stopped(pid_t pid);
// Whether the kernel clears it away, all of its threads, or has done so. That takes the longer the more memory it had.
bool is_ending(pid_t pid);

// The soft RLIMIT_LOCKS, which the kernel has not used since 2.4: every descendant inherits it, through
// fork, exec, setsid and adoption. 0 if the process can't be asked.
std::uint64_t tag_of(pid_t pid);
// Of this process; kept by all that it forks from now on.
void set_tag(std::uint64_t tag);

// What end_children() came to.
struct Endings {
  int count = 0;                   // of processes that were killed
  std::vector<std::string> named;  // those of them that would have gone on, but for what descends from one of them
  std::vector<pid_t> left;         // did not go
};

// Ends every child for which `mine` holds, and what descends from it, until there is none, or `rounds` are over: stops
// all until no new one appears, since one that replaces itself by a child would get away, then kills and reaps them.
// Blocks for a few milliseconds a round at most.
Endings end_children(const std::function<bool(pid_t)>& mine, int rounds);

}  // namespace distrun::proc
