#include "gpus.hpp"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <distrun/common/base/cpu_list.hpp>

namespace distrun::cli {
namespace {

constexpr int kDevicesMax = 64;

// Returns the folder of this program, with a slash.
std::string own_folder() {
  char path[PATH_MAX];
  const ssize_t size = ::readlink("/proc/self/exe", path, sizeof path);
  const std::string self(path, size > 0 ? static_cast<std::size_t>(size) : 0);
  return self.substr(0, self.rfind('/') + 1);
}

// Snapshots where the runtime does (runtime/device/drivers/cuda/cuda_module.cpp); in a build tree it is in lib.
bool has_cuda_module() {
  const auto is_in = [](const char* folder) {
    return ::access((own_folder() + "../" + folder + "/distrun/distrun_cuda.so").c_str(), R_OK) == 0;
  };
  // NOLINTNEXTLINE(misc-redundant-expression): elsewhere it is another folder
  return is_in("lib") || is_in(DISTRUN_LIBRARY_FOLDER);
}

// A container with some of a machine's GPUs has only the nodes of these numbers, such as /dev/nvidia3.
int device_nodes(const std::string& folder) {
  int count = 0;
  for (int number = 0; number < kDevicesMax; ++number) {
    struct stat found {};
    const std::string node = folder + "/nvidia" + std::to_string(number);
    if (::stat(node.c_str(), &found) == 0 && S_ISCHR(found.st_mode)) ++count;
  }
  return count;
}

// Counts like CUDA: entries of the list after "-1" are ignored.
int visible_devices(const std::string& list) {
  if (list.empty() || list.starts_with("-")) return 0;
  const std::string seen = list.substr(0, list.find(",-"));
  return static_cast<int>(std::count(seen.begin(), seen.end(), ',')) + 1;
}

std::string on(const std::string& host) { return host.empty() ? "" : " on " + host; }

// Adds the ids of "id:0,slots:1;id:2,slots:1".
void add_ids(std::string_view text, std::string& list) {
  constexpr std::string_view kId = "id:";
  for (std::size_t at = text.find(kId); at != text.npos; at = text.find(kId, at)) {
    at += kId.size();
    const std::string_view id = text.substr(at, text.find_first_of(",;", at) - at);
    if (("," + list + ",").find("," + std::string(id) + ",") != std::string::npos) continue;
    list += (list.empty() ? "" : ",") + std::string(id);
  }
}

}  // namespace

void take_gpus_of_ctest() {
  std::string list;
  for (int group = 0; group < kDevicesMax; ++group) {
    const std::string name = "CTEST_RESOURCE_GROUP_" + std::to_string(group) + "_GPUS";
    const char* assigned = std::getenv(name.c_str());
    if (assigned != nullptr) add_ids(assigned, list);
  }
  if (!list.empty()) ::setenv("CUDA_VISIBLE_DEVICES", list.c_str(), 0);
}

void take_gpus_of_slurm() {
  const char* assigned = std::getenv("SLURM_STEP_GPUS");
  if (assigned == nullptr) assigned = std::getenv("SLURM_JOB_GPUS");
  if (assigned == nullptr) return;
  const std::optional<std::vector<int>> gpus = base::parse_cpu_list(assigned);  // the same notation
  std::string list;
  for (const int gpu : gpus.value_or(std::vector<int>{})) list += (list.empty() ? "" : ",") + std::to_string(gpu);
  if (!list.empty()) ::setenv("CUDA_VISIBLE_DEVICES", list.c_str(), 0);
}

CudaDevices count_cuda_devices(const std::string& folder, const std::string& host) {
  const int devices = device_nodes(folder);
  if (devices == 0) return {0, (host.empty() ? "this machine" : host) + " has no NVIDIA device"};
  const char* list = std::getenv("CUDA_VISIBLE_DEVICES");
  const int visible = list == nullptr ? devices : std::min(devices, visible_devices(list));
  return {visible, visible > 0 ? "" : "CUDA_VISIBLE_DEVICES hides all NVIDIA devices" + on(host)};
}

CudaDevices find_cuda_devices(const std::string& host) {
  if (!has_cuda_module())
    return {0, (host.empty() ? "this distrun" : "distrun" + on(host)) + " was built without CUDA"};
  return count_cuda_devices("/dev", host);
}

}  // namespace distrun::cli
