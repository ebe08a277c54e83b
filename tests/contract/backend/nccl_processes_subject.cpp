// The backend nccl with ranks that are processes, each of which opens its GPUs itself: virtual ones, or this machine's,
// as DISTRUN_CONTRACT_GPUS says.
#include <distrun/runtime/device/gpu.hpp>
#include <distrun/runtime/store/file_store.hpp>

#include "backend_contract.hpp"
#include "group_of.hpp"
#include "rank_processes.hpp"
#include "support/skip.hpp"

namespace distrun::collectives {
namespace {

const std::string kCannot = "cannot run here: ";

std::string what_rank_throws(const std::string& path, const GroupInfo& group, const Body& body) {
  device::GpuSettings settings;
  settings.driver = DISTRUN_CONTRACT_GPUS;
  settings.seed = static_cast<std::uint64_t>(group.rank) + 1;
  if (settings.driver == "virtual") settings.devices = group.size();
  device::choose_gpu_driver(settings);
  if (const std::string why = why_no_backend("nccl"); !why.empty()) return kCannot + why;
  if (device::gpu_count() < group.size()) return kCannot + std::to_string(group.size()) + " ranks need as many GPUs";
  FileStore store(path);
  return what_it_throws("nccl", group, store, body);
}

}  // namespace

bool letters_have_tags() { return false; }

std::vector<std::string> run_ranks(int ranks, const Body& body) {
  const std::vector<std::string> thrown = run_processes(
      ranks, [&](int rank, const std::string& path) { return what_rank_throws(path, group_of(rank, ranks), body); });
  testing::skip_case_if(thrown.front().starts_with(kCannot), thrown.front());
  return thrown;
}

}  // namespace distrun::collectives
