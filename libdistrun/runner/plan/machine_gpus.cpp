#include <distrun/runner/plan/machine_gpus.hpp>

#include <algorithm>

namespace distrun::runner {
namespace {

bool uses_cuda(const Settings& settings) { return settings.gpu_driver == "auto" || settings.gpu_driver == "cuda"; }

bool needs_one_each(const wire::TestInfo& test) {
  return test.gpu_per_rank || test.world_rule == wire::WorldRule::Gpus;
}

std::string counted(int count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string describe_lack(const launch::Resources& machine, int has, int ranks, const wire::TestInfo& test) {
  const std::string& host = machine.host;
  const std::string what = needs_one_each(test) ? "a device for each of its " + counted(ranks, "rank") + " on " + host
                                                : counted(test.devices, "device") + " on " + host;
  if (has == 0) return "needs " + what + (machine.why_no_gpu.empty() ? ", which has none" : ": " + machine.why_no_gpu);
  const std::string number = std::to_string(has);
  const std::string advice = needs_one_each(test) ? "; --hosts " + host + ":" + number + " gives it fewer ranks" : "";
  return "needs " + what + ", which has " + number + advice;
}

}  // namespace

int gpus_on(const launch::Resources& machine, const Settings& settings) {
  return uses_cuda(settings) ? machine.gpus : settings.gpus;
}

int gpus_in_all(const std::vector<launch::Resources>& machines, const Settings& settings) {
  int gpus = 0;
  for (const launch::Resources& machine : machines) gpus += gpus_on(machine, settings);
  return gpus;
}

void take_gpus(const std::vector<launch::Resources>& machines, Settings& settings) {
  if (machines.empty() || !uses_cuda(settings)) return;
  settings.gpus = gpus_in_all(machines, settings);
  settings.why_no_gpu = settings.gpus > 0 ? "" : machines.front().why_no_gpu;
}

std::string why_no_devices(const wire::TestInfo& test, const std::vector<launch::Resources>& machines,
                           const std::vector<int>& ranks, const Settings& settings) {
  for (std::size_t i = 0; i < machines.size() && test.devices > 0; ++i) {
    const int has = gpus_on(machines[i], settings);
    const int needed = needs_one_each(test) ? ranks.at(i) : test.devices;
    if (ranks.at(i) > 0 && has < needed) return describe_lack(machines[i], has, ranks.at(i), test);
  }
  return "";
}

}  // namespace distrun::runner
