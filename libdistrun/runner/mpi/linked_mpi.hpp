#pragma once
// Finds out whether a program or a plugin uses MPI, by the names of the shared libraries that it needs, directly or
// through others. A program that opens MPI while it runs, such as Python with mpi4py, looks like one without MPI.
#include <cstdint>
#include <string>

#include <distrun/runner/record/record.hpp>

namespace distrun::mpi {

enum class Linked : std::uint8_t {
  None,
  Joins,  // Open MPI or PMIx: it can join a world that a PMIx server offers
  Alone,  // another MPI without PMIx, such as Debian's MPICH: each process is a world of one
};

struct LinkedMpi {
  Linked how = Linked::None;
  std::string library;  // "libmpi.so.40"; empty: none
};

// Looks at the file and at what it needs. `library_path`: the LD_LIBRARY_PATH of its ranks. A file that is no ELF
// file of this machine, such as a script, needs nothing. Never throws.
LinkedMpi find_mpi(const std::string& program, const std::string& library_path);

// Returns the LD_LIBRARY_PATH of the ranks of a run.
std::string library_path_of(const runner::Settings& settings);

// Says what a library's name alone tells.
Linked linked_by(const std::string& library);

}  // namespace distrun::mpi
