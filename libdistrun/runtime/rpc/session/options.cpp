#include <distrun/runtime/rpc/session/options.hpp>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/wire/fault_plan.hpp>
#include <distrun/runtime/rpc/values/convert.hpp>

namespace distrun::rpc {
namespace {

[[noreturn]] void refuse_value(const std::string& text) { throw Error(ErrorKind::InvalidArgument, "ValueError", text); }

device::Device device_of_index(int index) {
  if (index < 0) {
    throw Error(ErrorKind::InvalidArgument, "RuntimeError",
                "Device index must not be negative, got " + std::to_string(index));
  }
  if (index > INT16_MAX) refuse_value("there is no device cuda:" + std::to_string(index));
  return device::cuda(index);
}

device::Device device_of_name(std::string_view name) {
  if (name == "cpu") return device::kCpu;
  if (name == "cuda") return device::cuda(0);
  constexpr std::string_view kPrefix = "cuda:";
  int index = 0;
  const std::string_view digits = name.substr(0, kPrefix.size()) == kPrefix ? name.substr(kPrefix.size()) : "";
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  if (digits.empty() || parsed.ec != std::errc{} || parsed.ptr != digits.data() + digits.size()) {
    throw Error(ErrorKind::InvalidArgument, "\"" + std::string(name) + "\" is no device: those are cpu, cuda, cuda:1");
  }
  return device_of_index(index);
}

[[noreturn]] void refuse_two_targets(device::Device from, device::Device first, device::Device second) {
  refuse_value("`set_device_map` only supports 1-to-1 mapping, trying to map " + to_string(from) + " to " +
               to_string(second) + " and " + to_string(first));
}

// Rejects two sources for one target within a call. Across calls, the session's start checks it, on all ranks alike.
void check_targets(const std::vector<std::pair<MapDevice, MapDevice>>& map) {
  std::map<device::Device, device::Device> sources;  // by target
  for (const auto& [from, to] : map) {
    const auto [found, is_new] = sources.emplace(to.device, from.device);
    if (is_new || found->second == from.device) continue;
    refuse_value("`set_device_map` only supports 1-to-1 mapping, trying to map " + to_string(found->second) + " and " +
                 to_string(from.device) + " to " + to_string(to.device));
  }
}

// Reads a map of options.
[[noreturn]] void refuse_constructor(const std::string& what) {
  throw Error(ErrorKind::InvalidArgument, "TypeError", "PipeOptions: incompatible constructor arguments: " + what);
}

MapDevice map_device_of(const Value& value) {
  if (const auto* const index = value.get_if<std::int64_t>()) {
    if (*index < INT16_MIN || *index > INT16_MAX) refuse_value("there is no device " + std::to_string(*index));
    return MapDevice(static_cast<int>(*index));
  }
  if (const auto* const name = value.get_if<std::string>()) return MapDevice(name->c_str());
  return MapDevice(from_value<device::Device>(value));
}

void read_device_maps(const Value& value, PipeOptions& options) {
  for (const auto& [worker, map] : from_value<std::map<std::string, Value>>(value)) {
    const Map entries = from_value<Map>(map);
    std::vector<std::pair<MapDevice, MapDevice>> pairs;
    for (const auto& [from, to] : entries.items) pairs.emplace_back(map_device_of(from), map_device_of(to));
    options.set_device_map(worker, pairs);
  }
}

void read_option(const std::string& name, const Value& value, PipeOptions& options) {
  if (name == "num_worker_threads") {
    options.num_worker_threads = from_value<int>(value);
  } else if (name == "rpc_timeout") {
    options.rpc_timeout = from_value<double>(value);
  } else if (name == "init_method") {
    options.init_method = from_value<std::string>(value);
  } else if (name == "device_maps") {
    read_device_maps(value, options);
  } else if (name == "devices") {
    std::vector<MapDevice> devices;
    for (const Value& each : from_value<ValueList>(value)) devices.push_back(map_device_of(each));
    options.set_devices(devices);
  } else if (name == "transports" || name == "_transports") {
    options.transports = from_value<std::vector<std::string>>(value);
  } else if (name == "channels" || name == "_channels") {
    options.channels = from_value<std::vector<std::string>>(value);
  } else {
    refuse_constructor("there is no option \"" + name + "\"");
  }
}

void check_numbers(int num_worker_threads, double rpc_timeout) {
  if (num_worker_threads <= 0) {
    throw Error(ErrorKind::InvalidArgument, "RuntimeError",
                "num_worker_threads must be positive, got " + std::to_string(num_worker_threads));
  }
  if (!(rpc_timeout >= 0)) throw Error(ErrorKind::InvalidArgument, "RuntimeError", "RPC Timeout must be non-negative");
}

}  // namespace

MapDevice::MapDevice(int index) : device(device_of_index(index)) {}
MapDevice::MapDevice(const char* name) : device(device_of_name(name)) {}

PipeOptions::PipeOptions(int num_worker_threads_, double rpc_timeout_, std::string init_method_,
                         std::map<std::string, DeviceMap> device_maps_, std::vector<MapDevice> devices_)
    : num_worker_threads(num_worker_threads_), device_maps(std::move(device_maps_)) {
  check_numbers(num_worker_threads_, rpc_timeout_);
  rpc_timeout = rpc_timeout_;
  init_method = std::move(init_method_);
  if (!devices_.empty()) set_devices(devices_);
}

PipeOptions PipeOptions::from(const Value& map) {
  PipeOptions options;
  try {
    for (const auto& [name, value] : from_value<std::map<std::string, Value>>(map)) read_option(name, value, options);
  } catch (const Error& why) {
    if (why.type() != "TypeError" || why.text().find("incompatible") != std::string::npos) throw;
    refuse_constructor(why.text());
  }
  check_numbers(options.num_worker_threads, options.rpc_timeout);
  return options;
}

void PipeOptions::set_device_map(const std::string& worker, const std::vector<std::pair<MapDevice, MapDevice>>& map) {
  check_targets(map);
  DeviceMap merged;
  if (const auto found = device_maps.find(worker); found != device_maps.end()) merged = found->second;
  for (const auto& [from, to] : map) {
    const auto [found, is_new] = merged.emplace(from.device, to.device);
    if (!is_new && found->second != to.device) refuse_two_targets(from.device, found->second, to.device);
  }
  device_maps[worker] = std::move(merged);
}

void PipeOptions::set_devices(const std::vector<MapDevice>& wanted) {
  std::vector<device::Device> found;
  for (const MapDevice& each : wanted) {
    if (each.device.is_cpu()) {
      refuse_value("`set_devices` expect a list of CUDA devices, but got device type cpu");
    }
    found.push_back(each.device);
  }
  devices = std::move(found);
}

FaultyOptions::FaultyOptions(int num_worker_threads_, double rpc_timeout_, std::string init_method_)
    : num_worker_threads(num_worker_threads_) {
  check_numbers(num_worker_threads_, rpc_timeout_);
  rpc_timeout = rpc_timeout_;
  init_method = std::move(init_method_);
}

std::string FaultyOptions::plan() const {
  if (faults.empty()) return run_faults();
  [[maybe_unused]] const wire::FaultPlan makes_sense = wire::parse_fault_plan("FaultyOptions::faults", faults);
  return faults;
}

std::string run_faults() {
  const char* const value = std::getenv("DISTRUN_RPC_FAULTS");
  return value != nullptr ? value : "";
}

std::string run_transport() {
  const char* const value = std::getenv("DISTRUN_RPC_TRANSPORT");
  return value != nullptr && *value != '\0' ? value : "best";
}

}  // namespace distrun::rpc
