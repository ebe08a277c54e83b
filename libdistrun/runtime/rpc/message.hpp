#pragma once
// The messages that agents carry. A message has a payload, bytes that only the calls interpret, and the tensors that
// the payload refers to by index; before both is the envelope, with data about the call that does not concern the
// callee.
//
// Sections of the envelope are optional, and prefixed by their size: a receiver skips unknown ones, so that workers of
// different versions understand each other.
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

// The numbers are part of the wire format.
enum class MessageKind : std::uint8_t {
  Call = 1,       // run something, and answer with Reply or Failure
  Reply = 2,      // a value
  Failure = 3,    // an error
  Cancel = 4,     // the caller no longer waits
  Control = 5,    // between sessions (session/detail/control.hpp): quick, and on the lane that is never full
  Reference = 6,  // of the module rref: quick, as Control; the first byte is its type
  Devices = 7,    // memory of the receiver's devices was read (devices/carrier.hpp): quick, as Control
};
inline constexpr MessageKind kLastMessageKind = MessageKind::Devices;
const char* name_of(MessageKind kind) noexcept;

enum class SectionTag : std::uint8_t {
  Deadline = 1,     // std::int64_t: ns left at the sender; absent: no limit
  Autograd = 2,     // of runtime/dist_autograd
  Profiler = 3,     // of runtime/profiler
  TraceParent = 4,  // text: the hierarchical id of the call that caused this one, "0.81/2.7"
  Devices = 5,      // the tensors' devices at the receiver
  References = 6,   // the forks of references in the message (values/reference.hpp)
  Owned = 7,        // of a call with a result that stays at the callee, as a reference: its id
  Repeated = 8,     // empty: the call is repeated until it is answered, and may arrive twice or never
};

struct Section {
  SectionTag tag{};
  wire::Bytes bytes;
};

struct Message {
  MessageKind kind = MessageKind::Call;
  std::uint64_t id = 0;                   // assigned by the caller of the call that it begins, answers or ends
  std::optional<base::Nanoseconds> left;  // the section Deadline
  // The caller keeps the tensors unchanged until then, on its clock. Not sent if the receiver's clock is another one.
  std::optional<base::TimePoint> kept_until{};
  std::vector<Section> sections;  // the others
  wire::Bytes payload;
  TensorList tensors;
  // An agent may refuse a call while too much is in flight. Calls of the runtime's internal protocols are not refused.
  bool is_limited = true;
  // Memory of devices in a message within the process, which agents pass on unchanged. May be null.
  std::shared_ptr<const DeviceParcel> parcel;
  // Set by an agent that delivers a call or a reply without its payload and tensors: the reason. Empty: it is complete.
  std::string unreadable{};
  bool is_late = false;  // because the call's time was over
};

// Returns the bytes of payload and tensors.
std::uint64_t data_bytes_of(const Message& message) noexcept;
// Returns the bytes that the message keeps in memory: payload, sections and tensors, shared tensors included.
std::uint64_t bytes_of(const Message& message) noexcept;
// Returns the first section with the tag, or null.
const Section* find_section(const Message& message, SectionTag tag) noexcept;
bool is_repeated(const Message& call) noexcept;  // SectionTag::Repeated

// Copies memory that tensors of a message share with other tensors, as a wire would: for messages within the process.
// Tensors of the message that share memory with each other still do afterwards.
void copy_tensors(Message& message);

}  // namespace distrun::rpc
