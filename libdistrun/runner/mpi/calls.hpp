#pragma once
// The calls of MPI that ranks are in, as their stacks show them. Pure functions.
#include <cstdint>
#include <string>
#include <vector>

#include <distrun/runner/evidence/stacks/stacks.hpp>

namespace distrun::mpi {

struct Call {
  std::string name;  // "MPI_Barrier", also for PMPI_Barrier; empty: none
  std::string file;  // of the call; empty: unknown
  std::uint32_t line = 0;
};

// Returns the call that the thread's program has made; none if it is in none, or its stack is not known. All indices of
// the thread's frames must be valid in the table.
Call call_of(const wire::ThreadStack& thread, const std::vector<wire::StackFrame>& table);

// Returns whether all ranks of a communicator make this call together, and some may have to wait for the others.
bool is_collective(const std::string& call);

}  // namespace distrun::mpi
