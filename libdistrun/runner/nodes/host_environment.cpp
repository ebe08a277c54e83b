#include <distrun/runner/nodes/host_environment.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include <distrun/runner/nodes/allocation.hpp>

namespace distrun::nodes {
namespace {

using namespace std::string_view_literals;

// Say what job this is, and are the same on all of its hosts. Programs name their results by these.
constexpr std::array kOfJob{
    "SLURM_ARRAY_JOB_ID"sv,   "SLURM_ARRAY_TASK_COUNT"sv, "SLURM_ARRAY_TASK_ID"sv, "SLURM_ARRAY_TASK_MAX"sv,
    "SLURM_ARRAY_TASK_MIN"sv, "SLURM_ARRAY_TASK_STEP"sv,  "SLURM_CLUSTER_NAME"sv,  "SLURM_JOBID"sv,
    "SLURM_JOB_ACCOUNT"sv,    "SLURM_JOB_ID"sv,           "SLURM_JOB_NAME"sv,      "SLURM_JOB_PARTITION"sv,
    "SLURM_JOB_QOS"sv,        "SLURM_RESTART_COUNT"sv,    "SLURM_SUBMIT_DIR"sv};

// Name files, sockets and displays that only one host has, or the host itself.
constexpr std::array kOfHost{"DBUS_SESSION_BUS_ADDRESS"sv,
                             "DISPLAY"sv,
                             "HOST"sv,
                             "HOSTNAME"sv,
                             "KRB5CCNAME"sv,
                             "TEMP"sv,
                             "TMP"sv,
                             "TMPDIR"sv,
                             "WAYLAND_DISPLAY"sv,
                             "XAUTHORITY"sv,
                             "XDG_RUNTIME_DIR"sv,
                             "XDG_SESSION_ID"sv};

// Choose among the devices of a host.
constexpr std::array kOfDevices{"CUDA_VISIBLE_DEVICES"sv,   "GPU_DEVICE_ORDINAL"sv,   "HIP_VISIBLE_DEVICES"sv,
                                "NVIDIA_VISIBLE_DEVICES"sv, "ROCR_VISIBLE_DEVICES"sv, "ZE_AFFINITY_MASK"sv};

template <class Names>
bool has(const Names& names, std::string_view name) noexcept {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_of_host(std::string_view name) noexcept { return name.starts_with("SSH_") || has(kOfHost, name); }

// Set only if a world has several hosts, so those of a run around this one would stay.
bool is_of_outer_run(std::string_view name) noexcept {
  return name == "DISTRUN_HOSTS" || name == "DISTRUN_HOST_ADDRESS";
}

// An entry may lack a name or a value; programs do not look for such ones.
bool travels(std::string_view variable) noexcept {
  const std::string_view name = proc::name_of_variable(variable);
  if (name.empty() || name.size() == variable.size()) return false;
  if (is_engine_variable(name)) return has(kOfJob, name);
  return !is_of_host(name) && !is_of_outer_run(name);
}

}  // namespace

proc::Variables travelling(const proc::Variables& of_command) {
  proc::Variables result;
  std::copy_if(of_command.begin(), of_command.end(), std::back_inserter(result),
               [](const std::string& variable) { return travels(variable); });
  return result;
}

// Launchers may pass the name of another host on, as srun does.
proc::Variables of_host(const proc::Variables& here, const std::string& hostname) {
  proc::Variables result{"HOSTNAME=" + hostname};
  for (const std::string& variable : here) {
    const std::string_view name = proc::name_of_variable(variable);
    if (name == "HOST") {
      result.push_back("HOST=" + hostname);
    } else if (name != "HOSTNAME" && (is_of_host(name) || has(kOfDevices, name))) {
      result.push_back(variable);
    }
  }
  return result;
}

proc::Variables of_this_host() { return of_host(proc::own_environment(), proc::host_name()); }

}  // namespace distrun::nodes
