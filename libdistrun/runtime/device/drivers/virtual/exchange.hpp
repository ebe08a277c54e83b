#pragma once
// Memory and events shared by processes. A handle names the process, its descriptors and an offset; the importer maps
// the same bytes. An event is two counts in its owner's area: the number of recordings, and the last one that is done;
// a stream of another process that waits for it polls them.
//
// If stream order is checked, each process publishes its accesses to shared memory, and its clock with each recording,
// so that both sides find accesses that no event orders.
//
// Not thread-safe.
#include <map>
#include <memory>
#include <optional>

#include <distrun/runtime/device/driver.hpp>
#include <distrun/runtime/device/drivers/virtual/address_space.hpp>
#include <distrun/runtime/device/drivers/virtual/order_check.hpp>
#include <distrun/runtime/device/drivers/virtual/scheduler.hpp>
#include <distrun/runtime/device/drivers/virtual/shared_area.hpp>

namespace distrun::device::virtual_gpu {

class Exchange {
 public:
  // Both must outlive it.
  Exchange(AddressSpace& space, OrderCheck& check) : space_(space), check_(check) {}

  IpcHandle export_memory(const void* memory, std::size_t* offset);
  // Returns the address of the first exported byte.
  void* import_memory(int device, const IpcHandle& handle);
  void close_imported(void* memory);
  // Called when memory that may have been exported is freed.
  void forget(const void* memory);

  // Creates an event that other processes may share. Throws Error{Overloaded} beyond kSharedEvents.
  std::shared_ptr<SharedEvent> make_event();
  // Makes the slot available again if it belongs to this process; ignores null. The counts continue, so present users
  // are not confused.
  void release(const std::shared_ptr<SharedEvent>& event);
  IpcHandle export_event(const std::shared_ptr<SharedEvent>& event);
  std::shared_ptr<SharedEvent> import_event(const IpcHandle& handle);
  // Publishes a recording that is put on a stream now: the point reports when it is done.
  void record(const std::shared_ptr<SharedEvent>& event, const VectorClock& clock, Point& point);
  // Returns whether no other process has recorded it since this one did.
  bool is_own_recording(const std::shared_ptr<SharedEvent>& event) const;
  // Returns a point for the last recording, made by any process; null if it was never recorded.
  std::shared_ptr<Point> last_recording(const std::shared_ptr<SharedEvent>& event, VectorClock& clock);

  // Work touches bytes that may be shared; `fresh` is the check's record of it.
  void touch(const AccessRecord& fresh, const VectorClock& now, const std::string& stream_name);
  void host_saw(const VectorClock& known);

 private:
  // Exported or imported memory, by its address in this process.
  struct Range {
    std::int64_t end = 0;
    std::uint64_t owner = 0;     // a token
    std::int64_t device = 0;     // number in the owner's process
    std::int64_t to_offset = 0;  // address + this = offset in the owner's memory
  };
  struct ForeignStream {
    std::uint64_t process = 0;
    std::uint64_t stream = 0;
    friend auto operator<=>(const ForeignStream&, const ForeignStream&) = default;
  };

  MappedArea& own();
  bool is_own(const SharedEvent* event) const noexcept;
  std::shared_ptr<MappedArea> area_of(const Peer& peer);
  const Range* range_of(std::int64_t begin) const;
  SharedClock shown(const VectorClock& clock);
  VectorClock understood(const SharedClock& clock);
  std::size_t number_of(const ForeignStream& stream, int pid);
  void compare(const AccessRecord& fresh, const SharedAccess& mine, const VectorClock& now, const MappedArea& other);

  AddressSpace& space_;
  OrderCheck& check_;
  std::shared_ptr<MappedArea> own_;                             // created when something is first shared
  std::map<std::uint64_t, std::shared_ptr<MappedArea>> areas_;  // of others, by token
  std::map<std::int64_t, Range> ranges_;                        // by begin
  std::map<ForeignStream, std::size_t> numbers_;                // streams of other processes
  std::map<std::size_t, ForeignStream> foreign_;                // the inverse map
  std::vector<std::size_t> free_events_;
};

}  // namespace distrun::device::virtual_gpu
