#pragma once
// Options of a worker. The options of user-defined backends derive from RpcBackendOptions.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <distrun/common/base/clock.hpp>
#include <distrun/runtime/device/device.hpp>
#include <distrun/runtime/rpc/devices/device_map.hpp>
#include <distrun/runtime/rpc/values/value.hpp>
#include <distrun/runtime/store/store.hpp>

namespace distrun::rpc {

inline constexpr double kDefaultRpcTimeoutSeconds = 60;  // of calls
inline constexpr int kDefaultWorkerThreads = 16;         // of an agent

// Options that every agent has.
struct RpcBackendOptions {
  virtual ~RpcBackendOptions() = default;

  std::string init_method;  // "file:///...", "tcp://...", "env://"; empty: the store that the ranks of a test share
  std::shared_ptr<Store> store;                    // instead of an address
  double rpc_timeout = kDefaultRpcTimeoutSeconds;  // default timeout of calls, in seconds; 0: no limit
  double init_timeout = 0;  // limit of all waits while workers meet, in seconds; 0: rpc_timeout, but at least 30
};

// A device in a device map, given as a number, a name or a Device; may be "cpu".
struct MapDevice {
  // Throws Error{InvalidArgument} below 0: "Device index must not be negative".
  MapDevice(int index);  // NOLINT(google-explicit-*)
  // "cuda:1" or "cpu"; "cuda" means cuda:0. Throws Error{InvalidArgument} for other names.
  MapDevice(const char* name);                  // NOLINT(google-explicit-*)
  MapDevice(device::Device of) : device(of) {}  // NOLINT(google-explicit-*)
  // The device that was given.
  device::Device device;
};

// Options of the pipe agent, and of the agent for ranks that are threads.
struct PipeOptions : RpcBackendOptions {
  // The timeout is a plain number of seconds; no other type compiles. Throws Error{InvalidArgument} if out of range.
  explicit PipeOptions(int num_worker_threads = kDefaultWorkerThreads, double rpc_timeout = kDefaultRpcTimeoutSeconds,
                       std::string init_method = "", std::map<std::string, DeviceMap> device_maps = {},
                       std::vector<MapDevice> devices = {});
  // Reads a map, as from a settings file: {"rpc_timeout": 5.0, ...}. Throws Error{InvalidArgument, "TypeError"}
  // "incompatible constructor arguments" for a wrong type or an unknown name.
  static PipeOptions from(const Value& map);

  // Adds to the map from local devices to the devices of `worker` on which tensors arrive. Throws
  // Error{InvalidArgument, "ValueError"}: "`set_device_map` only supports 1-to-1 mapping ...".
  void set_device_map(const std::string& worker, const std::vector<std::pair<MapDevice, MapDevice>>& map);
  // Throws Error{InvalidArgument, "ValueError"} for the CPU.
  void set_devices(const std::vector<MapDevice>& devices);

  int num_worker_threads;                        // that run calls; 1 or more
  std::map<std::string, DeviceMap> device_maps;  // by the worker's name
  std::vector<device::Device> devices;           // empty: the devices in the maps
  std::vector<std::string> transports;  // "shm", "uds", "tcp" (or "uv"), the best first; empty: run_transport()
  std::vector<std::string> channels;    // "inline", "ring", "cma"; empty: all
};

// Options of the agent "faulty". It wraps another agent and injects faults (common/wire/fault_plan.hpp). It has no
// device maps.
struct FaultyOptions : RpcBackendOptions {
  // Throws Error{InvalidArgument} for a timeout or a number of threads that is out of range.
  explicit FaultyOptions(int num_worker_threads = kDefaultWorkerThreads, double rpc_timeout = kDefaultRpcTimeoutSeconds,
                         std::string init_method = "");

  // Returns `faults` or, if there are none, those of the run (--faults); empty: no faults. Throws
  // Error{InvalidArgument} for errors in `faults`.
  std::string plan() const;

  int num_worker_threads;               // that run calls; 1 or more
  std::string faults;                   // "SEED:PLAN"
  std::vector<std::string> transports;  // as in PipeOptions
};

// Returns the value of --faults; empty: no faults.
std::string run_faults();

// Returns the transport that --rpc-transport names, by default "best"; for options that name none.
std::string run_transport();

}  // namespace distrun::rpc
