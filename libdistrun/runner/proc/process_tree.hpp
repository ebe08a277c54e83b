#pragma once
// Finds and ends the processes that a test leaves behind. The coordinator and the guard are subreapers: they adopt a
// process when its parent ends, so own_children() covers all remaining processes, one generation at a time.
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace distrun::proc {

// Makes this process adopt orphans among its descendants. Throws Error{Failed} if the kernel refuses.
void become_subreaper();

// Returns the direct children, including zombies. One small read; needs no privilege.
std::vector<pid_t> own_children();

// Returns another process's children, including zombies. Empty if it has ended or cannot be inspected.
std::vector<pid_t> children_of(pid_t pid);
// Returns the ids of its threads. Empty if it has ended or cannot be inspected.
std::vector<pid_t> threads_of(pid_t pid);
// Ignores zombies. Returns false if the process cannot be inspected.
bool has_living_children(pid_t pid);

// Returns "4711 (sleep 100)": the command line, or the name in brackets if that is empty; "4711 (forked by a rank)" for
// a process that has not called exec since.
std::string describe_process(pid_t pid);
bool is_zombie(pid_t pid);
// Says why it cannot run: "it is stopped"; empty if its state does not show a reason.
std::string describe_state(pid_t pid);
// Returns true if a signal has stopped it.
bool is_stopped(pid_t pid);
// Returns true if the process has ended or all its threads are exiting, which takes longer with more memory.
bool is_ending(pid_t pid);

// Returns the soft RLIMIT_LOCKS, which the kernel has not used since 2.4: every descendant inherits it through fork,
// exec, setsid and adoption. 0 if the process cannot be inspected.
std::uint64_t tag_of(pid_t pid);
// Sets the tag of this process and of all that it forks from now on.
void set_tag(std::uint64_t tag);

// The result of end_children().
struct Endings {
  int count = 0;                   // processes that were killed
  std::vector<std::string> named;  // of those, the ones not already exiting, without descendants of a named one
  std::vector<pid_t> left;         // did not end
};

// Ends every child for which `mine` returns true, with its descendants, until none is left or `rounds` are over. First
// stops all until no new one appears, since a process that replaces itself by a child would escape; then kills and
// reaps them. Blocks for at most a few milliseconds per round.
Endings end_children(const std::function<bool(pid_t)>& mine, int rounds);

}  // namespace distrun::proc
