#pragma once
// Reads what Slurm tells a program in an allocation, by environment variables.
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <distrun/runner/nodes/host_list.hpp>

namespace distrun::nodes {

// Returns the value of an environment variable; empty if it is not set.
using Variables = std::function<std::string(const char* name)>;
std::string variable_of_process(const char* name);

struct Allocation {
  std::string job;
  // They have numbers of ranks if the job was submitted with a number of tasks.
  std::vector<HostSlot> hosts;
  // Slurm has started this process as one of several: it is not the one that starts the others.
  bool is_one_of_many = false;
};

// Returns the allocation that the process runs in; nothing outside of one. Throws Error{InvalidArgument} that names the
// variable if one cannot be read.
std::optional<Allocation> find_allocation(const Variables& variables = variable_of_process);

// Returns whether the process belongs to a job of Slurm.
bool is_in_job(const Variables& variables = variable_of_process);

// Returns how many CPUs of this host Slurm has given to the job step that the process belongs to; nothing outside of
// one. A cluster may leave it to the processes to keep to that.
std::optional<int> cpus_of_step(const Variables& variables = variable_of_process);

// Returns whether a variable belongs to a launcher (Slurm, PMI, PMIx). Ranks do not get these: an MPI library or a
// batch command in a test would take the rank for a process that the launcher has started.
bool is_engine_variable(std::string_view name) noexcept;

}  // namespace distrun::nodes
