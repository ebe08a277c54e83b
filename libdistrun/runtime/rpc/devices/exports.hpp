#pragma once
// Device memory of this process that peers read through handles. It is kept, with the events that signal when it is
// ready, until the peers report that they have read it.
//
// Thread-safe.
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <distrun/runtime/device/stream.hpp>
#include <distrun/runtime/rpc/devices/section.hpp>
#include <distrun/runtime/rpc/devices/shared_events.hpp>
#include <distrun/runtime/rpc/tensor_spans.hpp>
#include <distrun/runtime/rpc/worker_info.hpp>

namespace distrun::rpc {

class DeviceExports {
 public:
  explicit DeviceExports(std::shared_ptr<SharedEvents> events) : events_(std::move(events)) {}
  // Waits a moment for exiting processes: they may read until they have exited.
  ~DeviceExports();

  // Keeps GPU spans that the work so far on the calling thread's current streams produces. Fills in `transfer`, `made`
  // and the handles of the section's spans, which are the same in the same order. Throws what the driver throws, and
  // Error{Overloaded} if it has no more shareable events; keeps nothing then.
  void keep(WorkerKey to, std::vector<Span> spans, SentDevices& section);
  // Called when that worker has read the transfer, or the message was not sent. Ignores unknown transfers.
  void release(WorkerKey to, std::uint64_t transfer);
  // Called when that worker is lost; its process `pid` may continue to read until it has exited.
  void lose(WorkerKey to, int pid);
  // Returns whether that worker has not yet reported that it has read the transfer.
  bool is_open(WorkerKey to, std::uint64_t transfer) const;
  // Returns the number of open transfers.
  std::size_t count() const;

 private:
  struct Transfer {
    WorkerKey to;
    std::vector<Span> spans;
    std::map<device::Device, SharedEvent> made;
  };

  void give_back(Transfer transfer);
  std::vector<Transfer> take_orphans();

  const std::shared_ptr<SharedEvents> events_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::uint64_t last_ = 0;
  std::map<std::uint64_t, Transfer> transfers_;
  std::vector<std::pair<int, Transfer>> orphans_;  // from lost workers, with their process ids
};

}  // namespace distrun::rpc
