#pragma once
// How a worker takes part. Options of a backend of one's own derive from RpcBackendOptions.
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

inline constexpr double kDefaultRpcTimeoutSeconds = 60;
inline constexpr int kDefaultWorkerThreads = 16;

struct RpcBackendOptions {
  virtual ~RpcBackendOptions() = default;

  std::string init_method =
      "";  // "file:///...", "tcp://...", "env://"; empty: the store that the ranks of a test share
  std::shared_ptr<Store> store;                    // instead of an address
  double rpc_timeout = kDefaultRpcTimeoutSeconds;  // of a call, in seconds; 0: no limit
  double init_timeout = 0;  // of all that workers wait for while they meet, in seconds; 0: as of a call, at least 30
};

// A device of a map: made of a number, a name or a Device; "cpu" may be one.
struct MapDevice {
  // Throws Error{InvalidArgument} below 0: "Device index must not be negative".
  MapDevice(int index);  // NOLINT(google-explicit-*)
  // "cuda:1", "cpu"; "cuda" is the first. Throws Error{InvalidArgument} for another.
  MapDevice(const char* name);                  // NOLINT(google-explicit-*)
  MapDevice(device::Device of) : device(of) {}  // NOLINT(google-explicit-*)
  device::Device device;
};

// Of the pipe agent, and of the one for ranks that are threads.
struct PipeOptions : RpcBackendOptions {
  // A number of seconds, and nothing that has a unit of its own: what is not one is refused by the compiler. Throws
  // Error{InvalidArgument} for numbers that can't be.
  explicit PipeOptions(int num_worker_threads = kDefaultWorkerThreads, double rpc_timeout = kDefaultRpcTimeoutSeconds,
                       std::string init_method = "", std::map<std::string, DeviceMap> device_maps = {},
                       std::vector<MapDevice> devices = {});
  // As a file of settings would have it: {"rpc_timeout": 5.0, ...}. Throws Error{InvalidArgument, "TypeError"}
  // "incompatible constructor arguments" for another type, and an unknown name.
  static PipeOptions from(const Value& map);

  // Where tensors that are on a device here are to be at `worker`; together with what is there already. Throws
  // Error{InvalidArgument, "ValueError"}: "`set_device_map` only supports 1-to-1 mapping ...".
  void set_device_map(const std::string& worker, const std::vector<std::pair<MapDevice, MapDevice>>& map);
  // Throws Error{InvalidArgument, "ValueError"} for the CPU.
  void set_devices(const std::vector<MapDevice>& devices);

  int num_worker_threads;
  std::map<std::string, DeviceMap> device_maps;  // by the worker's name
  std::vector<device::Device> devices;           // empty: those of the maps
  std::vector<std::string> transports;  // "shm", "uds", "tcp" (or "uv"), the best first; empty: those of the run
  std::vector<std::string> channels;    // "inline", "ring", "cma"; empty: all
};

// Of the agent "faulty", which does what the one does that it stands before, but for the faults that are asked for
// (common/base/fault_plan.hpp). It has no device maps. Kinds of messages have the names of a plan, or PyTorch's.
struct FaultyOptions : RpcBackendOptions {
  explicit FaultyOptions(int num_worker_threads = kDefaultWorkerThreads, double rpc_timeout = kDefaultRpcTimeoutSeconds,
                         std::string init_method = "", std::vector<std::string> messages_to_fail = {},
                         std::map<std::string, double> messages_to_delay = {}, int num_fail_sends = 0);
  // Those that ported tests know: 8 threads; the first 3 sends of what may be sent again fail, and calls are delayed by
  // 1.5 s.
  static FaultyOptions usual();

  // "SEED:PLAN" of all that these options ask for, or, if that is nothing, of the run (--faults); empty: no faults.
  // Throws Error{InvalidArgument} "No mapping to rpc::MessageType exists for X", "Delays passed to
  // FaultyTensorPipeAgent must be non-negative.", and what is wrong with `faults`.
  std::string plan() const;

  int num_worker_threads;
  std::vector<std::string> messages_to_fail;
  std::map<std::string, double> messages_to_delay;  // seconds, by kind
  int num_fail_sends;                               // of each message of a kind that is to fail
  std::string faults;                               // "SEED:PLAN", besides
  std::vector<std::string> transports;              // as of the pipe
};

// What --faults says; empty: nothing.
std::string run_faults();

// The transport that --rpc-transport names, "best" unless it names one: of agents that have a choice, and options that
// name none.
std::string run_transport();

}  // namespace distrun::rpc
