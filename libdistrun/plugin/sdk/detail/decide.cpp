#include <distrun/plugin/sdk/detail/decide.hpp>

#include <algorithm>
#include <utility>

namespace distrun::detail {
namespace {

using MaybeSkip = std::optional<Skip>;

MaybeSkip because(std::string reason) { return Skip{.reason = std::move(reason)}; }

// Returns "none: this machine has no NVIDIA device (--gpu-driver virtual --gpus 2 emulates 2)".
std::string no_devices(const ListContext& run, int needed) {
  const std::string number = std::to_string(needed);
  return "none" + (run.why_no_gpu.empty() ? "" : ": " + run.why_no_gpu) + " (--gpu-driver virtual --gpus " + number +
         " emulates " + number + ")";
}

// Returns "2, 4 or 8".
std::string alternatives(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
    text += names[i];
  }
  return text;
}

std::string alternatives(const std::vector<int>& numbers) {
  std::vector<std::string> names;
  for (const int number : numbers) names.push_back(std::to_string(number));
  return alternatives(names);
}

Decision decide_any_of(const std::vector<int>& sizes, int wanted) {
  if (std::find(sizes.begin(), sizes.end(), wanted) != sizes.end()) return {wanted, std::nullopt};
  return {0, because("needs a world size of " + alternatives(sizes) + "; this run has " + std::to_string(wanted))};
}

Decision decide_world(const WorldSize& world, const ListContext& run) {
  switch (world.rule) {
    case WorldSize::Rule::Any: return {run.world_size, std::nullopt};
    case WorldSize::Rule::Fixed: return {world.sizes.at(0), std::nullopt};
    case WorldSize::Rule::AnyOf: return decide_any_of(world.sizes, run.world_size);
    case WorldSize::Rule::Gpus:
      if (run.gpus > 0) return {run.gpus, std::nullopt};
      return {0, because("needs a device for each rank; this run has " + no_devices(run, run.world_size))};
  }
  return {};
}

MaybeSkip unless_one_of(const char* what, const std::vector<std::string>& needed, const std::string& given) {
  if (needed.empty() || std::find(needed.begin(), needed.end(), given) != needed.end()) return {};
  return because(std::string("needs the ") + what + " " + alternatives(needed) + "; this run has " +
                 (given.empty() ? "none" : given));
}

MaybeSkip unless_enough_devices(int needed, const ListContext& run) {
  if (run.gpus >= needed) return {};
  return because("needs " + std::to_string(needed) + (needed == 1 ? " device" : " devices") + "; this run has " +
                 (run.gpus > 0 ? std::to_string(run.gpus) : no_devices(run, needed)));
}

MaybeSkip find_skip(const TestOptions& options, const ListContext& run) {
  if (auto skip = unless_one_of("backend", options.backends, run.backend)) return skip;
  if (auto skip = unless_one_of("agent", options.agents, run.agent)) return skip;
  const int devices = options.gpu_per_rank ? std::max(options.devices, run.world_size) : options.devices;
  if (auto skip = unless_enough_devices(devices, run)) return skip;
  for (const SkipCondition& condition : options.skip) {
    if (auto skip = condition(run)) return skip;
  }
  return std::nullopt;
}

}  // namespace

Decision decide(const TestOptions& options, ListContext run) {
  Decision decision = decide_world(options.world_size.value_or(WorldSize{}), run);
  if (decision.skip) return decision;
  run.world_size = decision.world_size;
  decision.skip = find_skip(options, run);
  return decision;
}

}  // namespace distrun::detail
