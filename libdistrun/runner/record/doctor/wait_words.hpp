#pragma once
// Words for waits, shared by the chain of a cause and by the message of an attempt.
#include <string>

#include <distrun/runner/record/doctor/graph.hpp>

namespace distrun::runner::doctor {

// Returns "barrier \"meet\"", "fcntl(F_SETLKW) for lock of /tmp/x", "read(5)": what the thread waits in.
std::string waits_in(const Graph& graph, const Thread& thread);
// Describes a thread that shows no wait on the board: "spinning", "sleeping in clock_nanosleep", "waiting for a mutex
// that it already holds"; empty if nothing is known.
std::string condition_of(const Graph& graph, const Thread& thread);

}  // namespace distrun::runner::doctor
