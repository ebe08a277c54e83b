#include <distrun/runner/attempt/cpu_binding.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include <distrun/common/base/cpu_list.hpp>

namespace distrun::runner {
namespace {

namespace fs = std::filesystem;

std::vector<int> list_in(const fs::path& file) {
  std::string line;
  std::getline(std::ifstream(file), line);
  return base::parse_cpu_list(line).value_or(std::vector<int>{});
}

// Returns the node of each CPU that the kernel describes.
std::map<int, int> read_nodes(const fs::path& devices) {
  std::map<int, int> nodes;
  for (const int node : list_in(devices / "node/online")) {
    for (const int cpu : list_in(devices / "node" / ("node" + std::to_string(node)) / "cpulist")) nodes[cpu] = node;
  }
  return nodes;
}

// Returns the hardware threads of the core of `cpu`.
std::vector<int> read_siblings(const fs::path& devices, int cpu) {
  const fs::path topology = devices / "cpu" / ("cpu" + std::to_string(cpu)) / "topology";
  std::vector<int> siblings = list_in(topology / "core_cpus_list");
  if (siblings.empty()) siblings = list_in(topology / "thread_siblings_list");  // its name before Linux 5.3
  return siblings;
}

// Part `i` of `n` of the units, in order; at least one, which several parts share if there are fewer units than parts.
template <class Unit>
std::vector<Unit> share(const std::vector<Unit>& units, int i, int n) {
  const auto begin_of = [&](std::size_t part) { return part * units.size() / static_cast<std::size_t>(n); };
  const std::size_t begin = begin_of(static_cast<std::size_t>(i));
  const std::size_t end = std::max(begin + 1, begin_of(static_cast<std::size_t>(i) + 1));
  return {units.begin() + static_cast<std::ptrdiff_t>(begin), units.begin() + static_cast<std::ptrdiff_t>(end)};
}

std::vector<std::vector<int>> units_of(Bind bind, const std::vector<Core>& cores) {
  std::vector<std::vector<int>> units;
  int node = -1;
  for (const Core& core : cores) {
    if (bind == Bind::Core || units.empty() || core.node != node) units.emplace_back();
    node = core.node;
    units.back().insert(units.back().end(), core.cpus.begin(), core.cpus.end());
  }
  return units;
}

}  // namespace

std::vector<Core> read_cores(const std::vector<int>& usable, const std::string& devices) {
  const std::map<int, int> nodes = read_nodes(devices);
  std::set<int> left(usable.begin(), usable.end());
  std::vector<Core> cores;
  for (const int cpu : usable) {
    if (left.erase(cpu) == 0) continue;
    const auto node = nodes.find(cpu);
    Core core{{cpu}, node == nodes.end() ? 0 : node->second};
    for (const int sibling : read_siblings(devices, cpu)) {
      if (left.erase(sibling) == 1) core.cpus.push_back(sibling);
    }
    cores.push_back(std::move(core));
  }
  std::stable_sort(cores.begin(), cores.end(), [](const Core& a, const Core& b) { return a.node < b.node; });
  return cores;
}

LaneCpus::LaneCpus(Bind bind, const std::vector<Core>& cores, int lane, int lanes)
    : lane_(lane), one_each_(bind == Bind::Numa) {
  if (bind != Bind::None && !cores.empty()) units_ = share(units_of(bind, cores), lane, lanes);
}

std::string LaneCpus::of(int rank, int ranks) const { return base::cpu_list_text(cpus_of(rank, ranks)); }

int LaneCpus::count(int ranks) const {
  std::set<int> all;
  for (int rank = 0; rank < ranks; ++rank) {
    const std::vector<int> cpus = cpus_of(rank, ranks);
    all.insert(cpus.begin(), cpus.end());
  }
  return static_cast<int>(all.size());
}

std::vector<int> LaneCpus::cpus_of(int rank, int ranks) const {
  if (units_.empty()) return {};
  std::vector<std::vector<int>> units = share(units_, rank, ranks);
  if (one_each_) units.resize(1);
  std::vector<int> cpus;
  for (const std::vector<int>& unit : units) cpus.insert(cpus.end(), unit.begin(), unit.end());
  std::sort(cpus.begin(), cpus.end());
  return cpus;
}

std::vector<LaneCpus> bind_lanes(Bind bind, int lanes) {
  const std::vector<Core> cores = bind == Bind::None ? std::vector<Core>{} : read_cores(base::cpus_of_thread());
  std::vector<LaneCpus> all;
  for (int lane = 0; lane < lanes; ++lane) all.emplace_back(bind, cores, lane, lanes);
  return all;
}

}  // namespace distrun::runner
