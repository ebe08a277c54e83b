#include <distrun/runtime/rpc/devices/site.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include <distrun/runtime/core/hosts.hpp>
#include <distrun/runtime/device/gpu.hpp>

namespace distrun::rpc {
namespace {

// A handle refers to a process of its pid namespace.
std::string this_machine() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string boot_id;
  file >> boot_id;
  struct stat processes {};
  if (::stat("/proc/self/ns/pid", &processes) != 0) processes.st_ino = 0;
  return core::known_hosts().name() + "/" + boot_id + "/" + std::to_string(processes.st_ino) + "/" +
         std::to_string(::geteuid());
}

}  // namespace

DeviceSite own_device_site() {
  DeviceSite site;
  site.count = device::gpu_count();
  site.machine = this_machine();
  site.pid = ::getpid();
  if (site.count == 0) return site;
  const device::Driver& driver = device::gpu_driver();
  site.driver = driver.name();
  for (int i = 0; i < site.count; ++i) site.uuids.push_back(driver.properties(i).uuid);
  return site;
}

std::string why_no_handles(const DeviceSite& own, const DeviceSite& peer) {
  if (peer.count == kNotCounted) return "the worker has not told where its devices are: it names none itself";
  if (own.count <= 0 || peer.count <= 0) return "one of both has no GPU";
  if (own.driver != peer.driver) return "its GPUs are of the driver " + peer.driver + ", and these of " + own.driver;
  if (own.machine != peer.machine) return "it runs on another machine, in another container, or for another user";
  if (own.pid == peer.pid) return "it is the same process, which opens no handles of its own";
  const auto is_seen = [&](const std::string& uuid) {
    return std::find(peer.uuids.begin(), peer.uuids.end(), uuid) != peer.uuids.end();
  };
  const bool shares_some = std::any_of(own.uuids.begin(), own.uuids.end(), is_seen);
  return shares_some ? "" : "it sees none of the GPUs that this worker sees";
}

std::optional<std::int16_t> own_number_of(const DeviceSite& own, const DeviceSite& peer, std::int16_t device) {
  if (device < 0 || static_cast<std::size_t>(device) >= peer.uuids.size()) return std::nullopt;
  const std::string& wanted = peer.uuids[static_cast<std::size_t>(device)];
  const auto found = std::find(own.uuids.begin(), own.uuids.end(), wanted);
  if (found == own.uuids.end()) return std::nullopt;
  return static_cast<std::int16_t>(found - own.uuids.begin());
}

}  // namespace distrun::rpc
