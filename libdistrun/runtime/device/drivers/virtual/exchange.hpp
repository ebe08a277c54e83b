#pragma once
// Memory and events that processes share. A handle names the process, its descriptors and a place; whoever imports it
// maps the same bytes. An event is two counts in its owner's area: how often it was recorded, and up to which
// recording it is done; a stream of another process that waits for it looks again and again.
//
// Where stream order is checked each process shows its accesses to shared memory and its clock with each recording, so
// that either side finds what no event orders.
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
  // The address of the first exported byte.
  void* import_memory(int device, const IpcHandle& handle);
  void close_imported(void* memory);
  // Memory that may have been exported is freed.
  void forget(const void* memory);

  // A place for an event that others may have. Throws Error{Overloaded} beyond kSharedEvents.
  std::shared_ptr<SharedEvent> make_event();
  // The place serves again if it is this process's; null: nothing happens. Counts go on, so whoever has it still is not
  // confused.
  void release(const std::shared_ptr<SharedEvent>& event);
  IpcHandle export_event(const std::shared_ptr<SharedEvent>& event);
  std::shared_ptr<SharedEvent> import_event(const IpcHandle& handle);
  // Shows a recording that is put on a stream now: the point tells when it is done.
  void record(const std::shared_ptr<SharedEvent>& event, const VectorClock& clock, Point& point);
  // Whether nobody else has recorded it since this process did.
  bool is_own_recording(const std::shared_ptr<SharedEvent>& event) const;
  // Stands for the recording that is the last by now, whoever has made it; null if there is none.
  std::shared_ptr<Point> last_recording(const std::shared_ptr<SharedEvent>& event, VectorClock& clock);

  // Work touches bytes that may be shared; `fresh` is as the check keeps it.
  void touch(const AccessRecord& fresh, const VectorClock& now, const std::string& stream_name);
  void host_saw(const VectorClock& known);

 private:
  // Memory that is exported or imported, by its address here.
  struct Range {
    std::int64_t end = 0;
    std::uint64_t owner = 0;     // a token
    std::int64_t device = 0;     // of the owner's
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
  std::shared_ptr<MappedArea> own_;                             // made when something is shared
  std::map<std::uint64_t, std::shared_ptr<MappedArea>> areas_;  // of others, by token
  std::map<std::int64_t, Range> ranges_;                        // by begin
  std::map<ForeignStream, std::size_t> numbers_;                // of other processes' streams
  std::map<std::size_t, ForeignStream> foreign_;                // the other way round
  std::vector<std::size_t> free_events_;
};

}  // namespace distrun::device::virtual_gpu
