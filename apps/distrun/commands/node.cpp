// distrun node: runs ranks on this machine for a coordinator on another.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/runner/attempt/cpu_share.hpp>
#include <distrun/runner/nodes/allocation.hpp>
#include <distrun/runner/nodes/host_environment.hpp>
#include <distrun/runner/nodes/run_node.hpp>
#include <distrun/runner/plan/schedule.hpp>

#include "commands.hpp"
#include "coordinator.hpp"
#include "gpus.hpp"
#include "guarded.hpp"

namespace distrun::cli {
namespace {

// An MPI library or a batch command in a test would take a rank for a process that the launcher has started.
void forget_engine() {
  std::vector<std::string> names;
  for (char** variable = ::environ; *variable != nullptr; ++variable) {
    std::string name(*variable);
    name.resize(std::min(name.find('='), name.size()));
    if (nodes::is_engine_variable(name)) names.push_back(std::move(name));
  }
  for (const std::string& name : names) ::unsetenv(name.c_str());
}

launch::Resources resources_of(const std::string& host) {
  launch::Resources resources;
  resources.host = host;
  resources.cpus = runner::cpus_for_ranks();
  resources.cpus = std::min(resources.cpus, nodes::cpus_of_step().value_or(resources.cpus));
  resources.memory_available = runner::memory_available();
  CudaDevices gpus = find_cuda_devices(host);
  resources.gpus = gpus.count;
  resources.why_no_gpu = std::move(gpus.why_none);
  return resources;
}

void take_own_tmp(proc::RunPlaces& places, const std::string& host) {
  places.temp_dir += "/distrun-" + places.run_id + "-" + host;
  if (::mkdir(places.temp_dir.c_str(), 0700) != 0) base::throw_errno("cannot create " + places.temp_dir, errno);
  ::setenv("TMPDIR", places.temp_dir.c_str(), 1);
}

}  // namespace

int node(const NodeOptions& options) {
  if (!options.directory.empty() && ::chdir(options.directory.c_str()) != 0) {
    base::throw_errno("this host has no directory " + options.directory +
                          ", in which the run was started: hosts need the same files at the same paths",
                      errno);
  }
  nodes::NodeSettings settings;
  settings.secret = nodes::read_node_secret(STDIN_FILENO);
  settings.resources = resources_of(options.host);
  forget_engine();
  settings.host_variables = nodes::of_this_host();
  settings.places = options.places;
  settings.host = options.host;
  settings.version = DISTRUN_VERSION;
  settings.run = proc::RunPlaces::here(settings.secret.run_id);
  if (options.own_tmp) take_own_tmp(settings.run, options.host);
  settings.run.start_dir = settings.run.temp_dir;  // what lies there is for the coordinator: hosts may share it
  // If the node is killed with its guard, the coordinator removes it: its name has the run's id.
  const auto remove_own_tmp = [&] {
    if (options.own_tmp) ::rmdir(settings.run.temp_dir.c_str());
  };
  const auto be_node = [&](proc::Coordinator under) {
    settings.node = node_options(settings.run);
    const int exit_code = nodes::run_node(settings, std::move(under));
    remove_own_tmp();
    return exit_code;
  };
  const int exit_code = guarded(settings.run, be_node);
  remove_own_tmp();
  return exit_code;
}

}  // namespace distrun::cli
