#pragma once
// Memory of peers' devices that this process reads through handles. Opening one takes long, and peers send from the
// same few segments again and again: so what is open stays open, up to a number.
//
// Any thread.
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <distrun/runtime/device/stream.hpp>
#include <distrun/runtime/rpc/devices/section.hpp>
#include <distrun/runtime/rpc/devices/shared_events.hpp>
#include <distrun/runtime/rpc/devices/site.hpp>
#include <distrun/runtime/rpc/worker_info.hpp>
#include <distrun/runtime/tensor/core/storage.hpp>

namespace distrun::rpc {

class DeviceImports : public std::enable_shared_from_this<DeviceImports> {
 public:
  // A transfer was read: its sender is to be told. On a thread of the driver's: it may post, and no more.
  using Done = std::function<void(WorkerKey from, std::uint64_t transfer)>;
  DeviceImports(std::shared_ptr<SharedEvents> events, Done done)
      : shared_events_(std::move(events)), done_(std::move(done)) {}
  // Waits a moment for copies that are not done; if they are not by then, what they read stays open as long as the
  // process.
  ~DeviceImports();

  // Throws Error{InvalidArgument} for a transfer that was begun to be read before.
  void refuse_second(WorkerKey from, std::uint64_t transfer) const;
  // Copies the spans of a message to their targets, on the calling thread's current streams, which wait for the
  // sender's. `own` and `peer` are where the devices of both are. Throws Error{InvalidArgument} for what makes no
  // sense, and what the driver throws.
  std::vector<tensor::Ref<tensor::Storage>> read(WorkerKey from, const SentDevices& section, const DeviceSite& own,
                                                 const DeviceSite& peer);
  // Of one that Done was called for, before its sender is told: the host has seen that the copies are done, so whoever
  // hears of it may count on that.
  void settle(WorkerKey from, std::uint64_t transfer);
  // What is being read of that worker's memory, for it to know.
  std::vector<SentRead> reads_of(WorkerKey from) const;  // costs nothing where nothing was read yet
  // The calling thread's current streams of these GPUs come after what that worker reads of this one's memory.
  void follow_reads(const std::vector<SentEvent>& reads, const DeviceSite& own, const DeviceSite& peer,
                    const std::vector<device::Device>& devices);
  // The streams on which its memory was being read.
  std::vector<device::Stream> lose(WorkerKey from);
  // Transfers that are being read.
  std::size_t count() const;

 private:
  using Bytes = std::vector<std::byte>;
  struct Opened {
    device::Device device;
    void* memory = nullptr;
    std::uint64_t last_use = 0;
    int users = 0;  // transfers that are being read
  };
  struct Reading {
    std::vector<Bytes> handles;
    std::vector<device::Stream> streams;
    std::vector<SharedEvent> copied;  // one for each stream
    int open_streams = 0;             // whose callbacks have not come yet
  };
  using Key = std::pair<WorkerKey, std::uint64_t>;

  void* open(device::Device device, const Bytes& handle, Reading& reading);
  void close_unused();
  void follow(const std::vector<SentEvent>& events, const DeviceSite& own, const DeviceSite& peer,
              const std::vector<device::Stream>& streams);
  void end(Key key, Reading reading);
  void stream_done(Key key);
  void let_go(Reading reading);
  bool are_copies_done() const;

  static constexpr std::size_t kOpenedMost = 128;
  static constexpr std::size_t kEventsMost = 1024;
  static constexpr std::size_t kOverMost = 256;

  const std::shared_ptr<SharedEvents> shared_events_;
  const Done done_;
  std::atomic<bool> was_used_{false};
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::uint64_t uses_ = 0;
  std::map<Bytes, Opened> opened_;
  std::map<Bytes, std::shared_ptr<device::Event>> events_;
  std::map<Key, Reading> reading_;
  std::vector<Reading> orphans_;  // from lost workers: their memory stays open until it was copied
  std::deque<Key> over_;          // the last of those that were read: their memory is its owner's again
};

}  // namespace distrun::rpc
