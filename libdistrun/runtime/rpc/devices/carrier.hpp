#pragma once
// Tensors on GPUs in messages: which device of the receiver each comes to, and by which channel its bytes go there. The
// caller's device map says where to for a call; an answer takes the same way back, so that whoever is called needs no
// map of its own.
//
//   channel   between
//   copy      workers of one process: the memory itself, which the receiver copies on its device
//   ipc       processes of one machine: a handle of the memory, which the receiver opens and copies from
//   staged    all others, and to or from the CPU: through pinned memory of the host, as bytes of the message
//
// Work is ordered by streams: what is sent comes after what the sender's current streams have to do by now, and what is
// received is there for what comes later on the receiver's current streams. Only `staged` makes the sender's host wait,
// until its bytes are there.
//
// Memory that a peer reads by a handle is kept until it has done so (message kind Devices), is lost, or the session
// ends.
//
// Any thread.
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

// Whether the message has a section Devices.
bool is_packed(const Message& message) noexcept;
// ... and tensors by it.
bool has_packed_tensors(const Message& message) noexcept;

class DeviceCarrier : public std::enable_shared_from_this<DeviceCarrier> {
 public:
  // Tells a worker that the memory of a transfer of its own was read; may throw.
  using Tell = std::function<void(WorkerKey to, wire::Bytes bytes)>;
  struct Settings {
    WorkerInfo self;
    bool is_by_hand = false;                          // messages go from hand to hand, within the process
    std::function<void(std::function<void()>)> post;  // runs something soon, on a thread that may use devices
    Tell tell;
  };
  static std::shared_ptr<DeviceCarrier> make(Settings settings);

  // Before messages move, and when workers join: where the devices of each are, this one's too.
  void set_site(const WorkerInfo& worker, DeviceSite site);
  // The GPUs that calls of this session may have to do with.
  void add_devices(const std::vector<device::Device>& devices);
  std::vector<device::Device> devices() const;
  bool has_devices() const noexcept { return has_devices_.load(std::memory_order_relaxed); }

  // Streams of these GPUs are the calling thread's current ones, and nobody else's as long as what this returns is
  // kept. Null: it needs none.
  std::shared_ptr<StreamLease> lease(const std::vector<device::Device>& devices) const;
  // Of all devices of the session, and those that the message names.
  std::shared_ptr<StreamLease> lease_for(const Message& message) const;

  // What is kept for a message that was packed. Unless it is said to be sent, it goes with this.
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

  // Makes the message ready to go: what can't travel as bytes of the host is taken out of its tensors, and the section
  // Devices says what there is. Throws Error{InvalidArgument, "RuntimeError"} for a tensor on a GPU that the map does
  // not have: "TensorPipe RPC backend only supports CPU tensors by default, ..."; and what the driver throws.
  Kept pack(Message& message, const DeviceMap& map, const WorkerInfo& to);
  // All tensors of the message, where they belong, for the calling thread's current streams; once. The way back for the
  // answer. Throws Error{InvalidArgument} for what no pack() has written, and what the driver throws.
  DeviceMap unpack(Message& message, const WorkerInfo& from);
  // Nobody wants the message: its memory is its sender's again.
  void discard(const Message& message, const WorkerInfo& from) noexcept;

  // Whether that worker may still be reading this one's memory, as it says in the message, or has said so itself.
  bool is_read_by(const Message& message, WorkerKey worker) const noexcept {
    return is_packed(message) || reads_->has(worker);
  }
  // The calling thread's current streams of the session's GPUs come after what that worker has read of this one's
  // memory, in the process.
  void follow_reads(WorkerKey worker);

  // What a message of kind Devices says.
  void receive(const WorkerInfo& from, const wire::Bytes& bytes);
  void lose(const WorkerInfo& worker) noexcept;
  // Until what peers read, and what is read from them, is read, or the deadline.
  void finish(base::TimePoint deadline) noexcept;

  // "devices.worker1.channel": "ipc"; "devices.worker1.not_taken.ipc": why; "devices.worker1.bytes_out.ipc".
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

// The devices of the receiver that a message's tensors belong on, and those of its way back; nothing else of it is
// read.
std::vector<device::Device> devices_named_in(const Message& message);

}  // namespace distrun::rpc
