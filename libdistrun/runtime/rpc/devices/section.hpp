#pragma once
// The wire format of a message's section Devices: the device of each tensor at the receiver and, for tensors that are
// not among the message's own, the span that they view.
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
// Throws Error{InvalidArgument} for an invalid device.
device::Device received(const SentDevice& sent);

struct SentPair {
  SentDevice from, to;
};
DISTRUN_FIELDS(SentPair, m.from, m.to)

// Like rpc::TensorShape.
struct SentShape {
  std::uint8_t dtype = 0;
  bool contiguous = true;
  std::int64_t offset = 0;
  std::vector<std::int64_t> sizes, strides;
};
DISTRUN_FIELDS(SentShape, m.dtype, m.contiguous, m.offset, m.sizes, m.strides)

SentShape sent(const TensorShape& shape);
// Throws Error{InvalidArgument} for an unknown dtype or too many dimensions.
TensorShape received(const SentShape& sent, std::uint32_t span);

inline constexpr std::int32_t kByHost = -1;

struct SentTensor {
  SentDevice target;
  std::int32_t span = kByHost;  // index in `spans`; kByHost: the next of the message's tensors
  SentShape shape;              // of a tensor that views a span
};
DISTRUN_FIELDS(SentTensor, m.target, m.span, m.shape)

// A span of device memory that the receiver copies itself. In a parcel it has no handle.
struct SentSpan {
  std::uint64_t bytes = 0;
  std::int16_t device = 0;  // the sender's number
  SentDevice target;
  std::uint64_t offset = 0;  // from the start of the handle's memory
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
  std::uint64_t transfer = 0;  // the receiver's number
  SentEvent read;              // signals that the read is done
};
DISTRUN_FIELDS(SentRead, m.transfer, m.read)

struct SentDevices {
  std::vector<SentTensor> tensors;  // all, in order
  std::vector<SentPair> map;        // of a call: the map for the answer
  std::uint64_t transfer = 0;       // of memory that is read through handles; 0: none
  std::vector<SentSpan> spans;
  std::vector<SentEvent> made;  // signal when the spans are ready
  std::vector<SentRead> reads;
};
DISTRUN_FIELDS(SentDevices, m.tensors, m.map, m.transfer, m.spans, m.made, m.reads)

}  // namespace distrun::rpc
