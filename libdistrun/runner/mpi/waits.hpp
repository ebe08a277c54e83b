#pragma once
// What ranks wait for in MPI, in the form in which ranks of tests show their waits on the board. So reports, `ps` and
// the doctor treat both alike.
//
// The server knows which ranks have begun MPI_Init, which none leaves before all have come. Everything else is known
// from stacks: a rank that is in a collective waits for ranks that are not. Stacks do not show its communicator. If
// more than half of the world is in collectives, it is taken to be MPI_COMM_WORLD, else nothing is said; MPI_Finalize
// is of all ranks. Both are conclusions, so a deadlock that needs them is likely, never proven.
#include <distrun/runner/mpi/server.hpp>
#include <distrun/runner/record/record.hpp>

namespace distrun::mpi {

// What a process is, and since when it runs its program.
struct Body {
  int rank = 0;
  int pid = 0;
  wire::Phase phase = wire::Phase::Body;
  base::TimePoint since{};
};

// Returns what the rank shows, as far as the server knows; nothing while no rank has joined.
std::optional<board::Shown> shown_by(const Server& server, const Body& body);

// Adds what the stacks of a snapshot show to what its ranks show.
void add_calls(const Server& server, runner::Snapshot& snapshot);

// The same for a world whose ranks have left if `has_left` says so.
void add_calls(int world_size, const std::function<bool(int rank)>& has_left, runner::Snapshot& snapshot);

}  // namespace distrun::mpi
