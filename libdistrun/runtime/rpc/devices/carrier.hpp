#pragma once
// GPU tensors in messages: each tensor's device at the receiver, and the channel that carries its bytes. The caller's
// device map determines the devices for a call; the answer uses the reversed map, so the callee needs none.
//
//   channel   between
//   copy      workers of one process: the memory itself, which the receiver copies on its device
//   ipc       processes of one machine: a handle of the memory, which the receiver opens and copies from
//   staged    all others, and to or from the CPU: through pinned host memory, as bytes of the message
//
// Streams order the work: a tensor is sent after the work so far on the sender's current streams, and is ready for
// later work on the receiver's current streams. Only `staged` blocks the sender's host, until the bytes are there.
//
// Memory that a peer reads through a handle is kept until it is read (message kind Devices), or peer or session end.
//
// Thread-safe.
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <distrun/common/base/clock.hpp>
#include <distrun/runtime/rpc/devices/device_map.hpp>
#include <distrun/runtime/rpc/devices/exports.hpp>
#include <distrun/runtime/rpc/devices/imports.hpp>
#include <distrun/runtime/rpc/devices/local_reads.hpp>
#include <distrun/runtime/rpc/devices/site.hpp>
#include <distrun/runtime/rpc/devices/stream_lease.hpp>
#include <distrun/runtime/rpc/message.hpp>

namespace distrun::rpc {

// Returns whether the message has a section Devices.
bool is_packed(const Message& message) noexcept;
// Returns whether the message has tensors in that section.
bool has_packed_tensors(const Message& message) noexcept;

class DeviceCarrier : public std::enable_shared_from_this<DeviceCarrier> {
 public:
  // Notifies a worker that the memory of its transfer was read; may throw.
  using Tell = std::function<void(WorkerKey to, wire::Bytes bytes)>;
  struct Settings {
    WorkerInfo self;
    bool is_by_hand = false;                          // messages are passed within the process
    std::function<void(std::function<void()>)> post;  // runs a function soon, on a thread that may use devices
    Tell tell;
  };
  static std::shared_ptr<DeviceCarrier> make(Settings settings);

  // Sets the devices of a worker (this one included). Called before messages are sent, and when workers join.
  void set_site(const WorkerInfo& worker, DeviceSite site);
  // Adds GPUs that calls of this session may use.
  void add_devices(const std::vector<device::Device>& devices);
  std::vector<device::Device> devices() const;
  bool has_devices() const noexcept { return has_devices_.load(std::memory_order_relaxed); }

  // Makes streams of these GPUs the calling thread's current ones. They are used exclusively while the returned lease
  // exists. Returns null if no streams are needed.
  std::shared_ptr<StreamLease> lease(const std::vector<device::Device>& devices) const;
  // Leases streams of all devices of the session, and of those that the message names.
  std::shared_ptr<StreamLease> lease_for(const Message& message) const;

  // Keeps the memory of a packed message; releases it unless sent() is called.
  class Kept {
   public:
    Kept() = default;
    Kept(DeviceExports* exports, WorkerKey to, std::uint64_t transfer)
        : exports_(exports), to_(to), transfer_(transfer) {}
    Kept(Kept&& other) noexcept { *this = std::move(other); }
    Kept& operator=(Kept&& other) noexcept {
      std::swap(exports_, other.exports_);
      std::swap(to_, other.to_);
      std::swap(transfer_, other.transfer_);
      return *this;
    }
    ~Kept() {
      if (exports_ != nullptr) exports_->release(to_, transfer_);
    }
    void sent() noexcept { exports_ = nullptr; }

   private:
    DeviceExports* exports_ = nullptr;
    WorkerKey to_;
    std::uint64_t transfer_ = 0;
  };

  // Prepares a message for sending: removes memory that is not sent as host bytes from its tensors, and describes
  // everything in the section Devices. Throws Error{InvalidArgument, "RuntimeError"} for a tensor on a GPU that the map
  // does not contain: "TensorPipe RPC backend only supports CPU tensors by default, ..."; and what the driver throws.
  Kept pack(Message& message, const DeviceMap& map, const WorkerInfo& to);
  // Places the tensors on their devices, for the calling thread's current streams; call it once. Returns the device map
  // for the answer. Throws Error{InvalidArgument} for bytes that pack() has not written, and what the driver throws.
  DeviceMap unpack(Message& message, const WorkerInfo& from);
  // Called for a message that is not unpacked: returns the memory to the sender.
  void discard(const Message& message, const WorkerInfo& from) noexcept;

  // Returns whether that worker may still be reading this one's memory, according to the message or to earlier notes.
  bool is_read_by(const Message& message, WorkerKey worker) const noexcept {
    return is_packed(message) || reads_->has(worker);
  }
  // Orders the calling thread's current streams after that worker's reads, within the process, of this worker's memory.
  void follow_reads(WorkerKey worker);

  // Handles a message of kind Devices.
  void receive(const WorkerInfo& from, const wire::Bytes& bytes);
  void lose(const WorkerInfo& worker) noexcept;
  // Waits until all reads by and from peers are done, or until the deadline.
  void finish(base::TimePoint deadline) noexcept;

  // Adds "devices.worker1.channel": "ipc"; "devices.worker1.not_taken.ipc": the reason;
  // "devices.worker1.bytes_out.ipc".
  void add_debug_info(std::map<std::string, std::string>& info) const;

 private:
  explicit DeviceCarrier(Settings settings);

  enum class Channel : std::uint8_t { Copy, Ipc, Staged };
  static constexpr std::size_t kChannels = 3;
  struct Peer {
    std::string name;
    DeviceSite site;
    std::array<std::uint64_t, kChannels> bytes_out{};
  };

  Channel channel_to(WorkerKey to, const DeviceSite& site) const;
  std::string why_no_ipc(const DeviceSite& site) const;
  DeviceSite site_of(WorkerKey worker) const;
  void count(WorkerKey to, Channel channel, std::uint64_t bytes);
  std::vector<tensor::Ref<tensor::Storage>> read(const SentDevices& section, const WorkerInfo& from);
  void follow_reads(const SentDevices& section, const WorkerInfo& from);
  void tell_read(WorkerKey from, std::uint64_t transfer) noexcept;

  const Settings settings_;
  const bool may_use_handles_;
  const std::shared_ptr<SharedEvents> events_ = std::make_shared<SharedEvents>();
  const std::shared_ptr<LocalReads> reads_ = std::make_shared<LocalReads>();
  DeviceExports exports_{events_};
  std::shared_ptr<DeviceImports> imports_;
  const std::shared_ptr<StreamPool> streams_ = std::make_shared<StreamPool>();
  std::atomic<bool> has_devices_{false};
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::map<WorkerKey, Peer> peers_;
  std::vector<device::Device> devices_;
};

// Returns the devices of the receiver that the message's tensors and its reversed map name; reads nothing else.
std::vector<device::Device> devices_named_in(const Message& message);

}  // namespace distrun::rpc
