#pragma once
// The section Devices of a message, as it travels: where each of its tensors belongs at the receiver, and of those that
// are not among the message's own tensors what they look into.
#include <cstdint>
#include <vector>

#include <distrun/common/wire/codec.hpp>
#include <distrun/runtime/device/device.hpp>
#include <distrun/runtime/rpc/devices/device_map.hpp>
#include <distrun/runtime/rpc/tensor_spans.hpp>

namespace distrun::rpc {

struct SentDevice {
  std::uint8_t type = 0;
  std::int16_t index = 0;
};
DISTRUN_FIELDS(SentDevice, m.type, m.index)

SentDevice sent(device::Device device) noexcept;
// Throws Error{InvalidArgument} for one that can't be.
device::Device received(const SentDevice& sent);

struct SentPair {
  SentDevice from, to;
};
DISTRUN_FIELDS(SentPair, m.from, m.to)

// As rpc::TensorShape.
struct SentShape {
  std::uint8_t dtype = 0;
  bool contiguous = true;
  std::int64_t offset = 0;
  std::vector<std::int64_t> sizes, strides;
};
DISTRUN_FIELDS(SentShape, m.dtype, m.contiguous, m.offset, m.sizes, m.strides)

SentShape sent(const TensorShape& shape);
// Throws Error{InvalidArgument} for a dtype that nobody knows, and for more dimensions than tensors have.
TensorShape received(const SentShape& sent, std::uint32_t span);

inline constexpr std::int32_t kByHost = -1;

struct SentTensor {
  SentDevice target;
  std::int32_t span = kByHost;  // of `spans`; by host: the next of the message's tensors
  SentShape shape;              // of one that looks into a span
};
DISTRUN_FIELDS(SentTensor, m.target, m.span, m.shape)

// A stretch of a device's memory that the receiver copies itself. Of one that came in a parcel no handle is there.
struct SentSpan {
  std::uint64_t bytes = 0;
  std::int16_t device = 0;  // by the sender's count
  SentDevice target;
  std::uint64_t offset = 0;  // from where the handle begins
  std::vector<std::byte> handle;
};
DISTRUN_FIELDS(SentSpan, m.bytes, m.device, m.target, m.offset, m.handle)

struct SentEvent {
  std::int16_t device = 0;
  std::vector<std::byte> handle;
};
DISTRUN_FIELDS(SentEvent, m.device, m.handle)

// Memory of the receiver that the sender may still be reading.
struct SentRead {
  std::uint64_t transfer = 0;  // the receiver's
  SentEvent read;              // when it is read
};
DISTRUN_FIELDS(SentRead, m.transfer, m.read)

struct SentDevices {
  std::vector<SentTensor> tensors;  // all, in their order
  std::vector<SentPair> map;        // of a call: the way back
  std::uint64_t transfer = 0;       // of what is read through handles; 0: nothing is
  std::vector<SentSpan> spans;
  std::vector<SentEvent> made;  // when the spans are there
  std::vector<SentRead> reads;
};
DISTRUN_FIELDS(SentDevices, m.tensors, m.map, m.transfer, m.spans, m.made, m.reads)

}  // namespace distrun::rpc
