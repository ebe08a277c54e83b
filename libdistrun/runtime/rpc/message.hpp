#pragma once
// What agents carry. A message is bytes that nobody below the calls looks into, and the tensors that they speak of, by
// their place in the list; in front of both stands the envelope, with what concerns the call and not the callee.
//
// Sections of the envelope are optional, and each has its size in front of it: who does not know one skips it, so that
// workers of different ages understand each other.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/wire/buffer.hpp>
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::rpc {

struct DeviceParcel;  // devices/parcel.hpp

// The numbers are the wire's.
enum class MessageKind : std::uint8_t {
  Call = 1,       // run something, and answer with Reply or Failure
  Reply = 2,      // a value
  Failure = 3,    // an error
  Cancel = 4,     // whoever called does not wait any more
  Control = 5,    // of sessions to each other (session/control.hpp): quick, and on the lane that is never full
  Reference = 6,  // of the room rref: quick, as Control; the first byte says which
  Devices = 7,    // memory of the receiver's devices was read (devices/carrier.hpp): quick, as Control
};
inline constexpr MessageKind kLastMessageKind = MessageKind::Devices;
const char* name_of(MessageKind kind) noexcept;

enum class SectionTag : std::uint8_t {
  Deadline = 1,     // std::int64_t: ns that are left at the sender; not there: no limit
  Autograd = 2,     // of runtime/dist_autograd
  Profiler = 3,     // of runtime/profiler
  TraceParent = 4,  // text: the hierarchical id of the call that this one is made for, "0.81/2.7"
  Devices = 5,      // where the tensors are to be at the receiver
  References = 6,   // the forks of references that travel in it (values/reference.hpp)
  Owned = 7,        // of a call whose result stays at the callee, as a reference: what it is known by
  Repeated = 8,     // empty: the call is made again until it is answered, and may come twice or not at all
};

struct Section {
  SectionTag tag{};
  wire::Bytes bytes;
};

struct Message {
  MessageKind kind = MessageKind::Call;
  std::uint64_t id = 0;                   // the caller's, of the call that it begins, answers or ends
  std::optional<base::Nanoseconds> left;  // the section Deadline
  // Until then the caller keeps the tensors as they are, on its clock. Not sent where the clock is not the receiver's.
  std::optional<base::TimePoint> kept_until{};
  std::vector<Section> sections;  // the others
  wire::Bytes payload;
  TensorList tensors;
  // An agent may refuse a call while too much is on its way. Calls of the runtime's own protocols are not refused.
  bool is_limited = true;
  // Of one that stays in the process: memory of devices, which agents hand over as it is. Null: there is none.
  std::shared_ptr<const DeviceParcel> parcel;
  // Set by an agent that brings a call or a reply without its payload and tensors: the reason. Empty: it is whole.
  std::string unreadable{};
  bool is_late = false;  // the reason is that the call's time was over
};

// Returns the bytes of payload and tensors.
std::uint64_t data_bytes_of(const Message& message) noexcept;
// Returns the bytes that it keeps in memory: payload, sections and tensors. Tensors that it shares count as well.
std::uint64_t bytes_of(const Message& message) noexcept;
bool is_repeated(const Message& call) noexcept;  // SectionTag::Repeated

// Copies what tensors of a message share with others, as a wire would: for messages that stay in the process. Tensors
// that share memory with each other share it afterwards, too.
void copy_tensors(Message& message);

}  // namespace distrun::rpc
