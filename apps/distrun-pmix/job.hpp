#pragma once
// The description of ranks that libpmix gives to each of them: how many there are, and where each one is.
#include <pmix_server.h>

#include <optional>
#include <string>
#include <vector>

#include <distrun/common/wire/mpi.hpp>

namespace distrun::pmix {

// Ranks that form one MPI_COMM_WORLD. The first are those of the order; ranks may spawn others.
struct Job {
  std::string world;                  // its name
  std::vector<int> apps;              // the numbers of ranks of its programs, in the order of the ranks
  std::optional<pmix_proc_t> parent;  // the rank that has spawned it

  int ranks() const noexcept;
};

// The functions throw Error{Failed} with the call that has failed, and what libpmix says.
void start_server(const wire::MpiOrder& order, pmix_server_module_t functions);
// Returns what the ranks need in their environment.
std::vector<wire::RankVariables> register_job(const wire::MpiOrder& order, const Job& job);

}  // namespace distrun::pmix
