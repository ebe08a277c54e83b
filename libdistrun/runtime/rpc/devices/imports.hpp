#pragma once
// Device memory of peers that this process reads through handles. Opening a handle is slow, and peers send from the
// same few segments repeatedly, so a limited number of handles stays open.
//
// Thread-safe.
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

class DeviceImports {
 public:
  // Called when a transfer was read, also that of a lost worker, to notify its sender. Runs on a driver's thread, maybe
  // after this object is gone: it may only post, and must not own anything that uses a driver.
  using Done = std::function<void(WorkerKey from, std::uint64_t transfer)>;
  DeviceImports(std::shared_ptr<SharedEvents> events, Done done)
      : shared_events_(std::move(events)), done_(std::move(done)) {}
  // Waits a moment for unfinished copies; memory that some still read stays open until the process ends.
  ~DeviceImports();

  // Throws Error{InvalidArgument} if reading this transfer was started before.
  void refuse_second(WorkerKey from, std::uint64_t transfer) const;
  // Copies the spans of a message to their targets on the calling thread's current streams, after the sender's work.
  // `own`, `peer`: the devices of both. Throws Error{InvalidArgument} for an invalid section, and the driver's errors.
  std::vector<tensor::Ref<tensor::Storage>> read(WorkerKey from, const SentDevices& section, const DeviceSite& own,
                                                 const DeviceSite& peer);
  // Called after Done, before the sender is notified: the host sees that the copies are done, which the sender assumes.
  void settle(WorkerKey from, std::uint64_t transfer);
  // Returns the unfinished reads of that worker's memory, to report them to it.
  std::vector<SentRead> reads_of(WorkerKey from) const;  // no cost if nothing was ever read
  // Orders the calling thread's current streams of these GPUs after that worker's reads of this one's memory.
  void follow_reads(const std::vector<SentEvent>& reads, const DeviceSite& own, const DeviceSite& peer,
                    const std::vector<device::Device>& devices);
  // Called when a worker is lost. Returns the streams on which its memory was being read.
  std::vector<device::Stream> lose(WorkerKey from);
  // Returns the number of transfers being read.
  std::size_t count() const;

 private:
  using Bytes = std::vector<std::byte>;
  struct Opened {
    device::Device device;
    void* memory = nullptr;
    std::uint64_t last_use = 0;
    int users = 0;  // transfers being read
  };
  struct Reading {
    std::vector<Bytes> handles;
    std::vector<device::Stream> streams;
    std::vector<SharedEvent> copied;  // one for each stream
  };
  using Key = std::pair<WorkerKey, std::uint64_t>;

  void* open(device::Device device, const Bytes& handle, Reading& reading);
  void close_unused();
  void follow(const std::vector<SentEvent>& events, const DeviceSite& own, const DeviceSite& peer,
              const std::vector<device::Stream>& streams);
  void end(Key key, Reading reading);
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
  std::deque<Key> over_;          // recently read: their memory belongs to its owner again
};

}  // namespace distrun::rpc
