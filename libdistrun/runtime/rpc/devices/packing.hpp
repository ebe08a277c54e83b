#pragma once
// How the tensors of one message are sent: which spans of memory become host bytes, and which stay on their devices. A
// span is sent once, however many tensors view it, and they share it at the receiver as well.
#include <functional>
#include <string>
#include <vector>

#include <distrun/runtime/rpc/devices/device_map.hpp>
#include <distrun/runtime/rpc/devices/section.hpp>
#include <distrun/runtime/rpc/message.hpp>
#include <distrun/runtime/rpc/tensor_spans.hpp>

namespace distrun::rpc {

struct PackedTensors {
  SentDevices section;      // without handles
  std::vector<Span> apart;  // that stay on their devices, in the order of section.spans
  std::uint64_t staged_bytes = 0;
};

// Returns whether the receiver can read memory of this GPU directly.
using CanRead = std::function<bool(device::Device)>;

// Removes from the message's tensors those that the receiver can read directly and needs on a GPU, and copies the rest
// to the host: waits for the streams that produce it. Throws Error{InvalidArgument, "RuntimeError"} for a tensor on a
// device that the map does not contain: "TensorPipe RPC backend only supports CPU tensors by default, ...".
PackedTensors pack_tensors(Message& message, const DeviceMap& map, const std::string& to, const CanRead& can_read);

// Reverses pack_tensors(): places all tensors of the message on their devices. `copies`: those of section.spans, on
// their targets. Throws Error{InvalidArgument} for an invalid section.
void unpack_tensors(Message& message, const SentDevices& section,
                    const std::vector<tensor::Ref<tensor::Storage>>& copies);

}  // namespace distrun::rpc
