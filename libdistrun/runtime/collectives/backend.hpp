#pragma once
// What all backends of groups have in common. A backend is of one of two kinds: it moves host bytes while its caller
// waits (host_backend.hpp), or bytes on GPUs on streams while the host continues (device_backend.hpp). Tensors, order,
// futures and argument checks belong to the group (process_group.hpp).
#include <cstdint>
#include <string>

namespace distrun::collectives {

// How a rank leaves its group.
enum class Leaving : std::uint8_t { Done, GaveUp };

// One rank's backend of one group.
class Backend {
 public:
  virtual ~Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  // Makes the rank leave: waits for this rank, on all ranks, end with `why`. Thread-safe; the first call counts.
  virtual void leave(Leaving how, const std::string& why) noexcept = 0;
  // Called if the group stays open beyond the current test. Opens the descriptors and the thread that long waits need
  // now, so that they do not count as a leak of the first test that waits.
  virtual void prepare_to_stay() noexcept {}

 private:
  // Only the two kinds derive from it, so callers need to handle no other.
  friend class HostBackend;
  friend class DeviceBackend;
  Backend() = default;
};

}  // namespace distrun::collectives
