#pragma once
// Memory of this process's devices that peers read by themselves, through handles: it is kept, with the events that
// tell when it is there, until they say that they have it.
//
// Any thread.
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
  // Gives processes that are just ending a moment: while they are there, they may read.
  ~DeviceExports();

  // What is on the calling thread's current streams by now makes the spans, which are on GPUs. Fills in
  // `transfer`, `made` and the handles of the section's spans, which are the same in the same order. Throws what the
  // driver throws, Error{Overloaded} if it has no more events for others; nothing is kept then.
  void keep(WorkerKey to, std::vector<Span> spans, SentDevices& section);
  // That worker has read it, or it was not sent. What nobody knows is ignored.
  void release(WorkerKey to, std::uint64_t transfer);
  // Nothing is heard of that worker any more, whose process is `pid`. As long as that is there it may go on to read.
  void lose(WorkerKey to, int pid);
  // That worker has not said yet that it has read it.
  bool is_open(WorkerKey to, std::uint64_t transfer) const;
  // How many are waited for.
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
  std::vector<std::pair<int, Transfer>> orphans_;  // of lost workers, by their processes
};

}  // namespace distrun::rpc
