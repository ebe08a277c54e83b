#pragma once
// How the tensors of one message travel: which stretches of memory are taken along as bytes of the host, and which stay
// where they are. A stretch travels once, however many tensors look into it, and they share it afterwards, too.
#include <functional>
#include <string>
#include <vector>

#include <distrun/runtime/rpc/devices/device_map.hpp>
#include <distrun/runtime/rpc/devices/section.hpp>
#include <distrun/runtime/rpc/message.hpp>
#include <distrun/runtime/rpc/tensor_spans.hpp>

namespace distrun::rpc {

struct PackedTensors {
  SentDevices section;      // but for handles
  std::vector<Span> apart;  // that stay on their devices, in the order of section.spans
  std::uint64_t staged_bytes = 0;
};

// Whether the receiver can read memory of this GPU itself.
using CanRead = std::function<bool(device::Device)>;

// Takes out of the message's tensors what the receiver can read itself and wants on a GPU, and puts the rest onto the
// host: waits for the streams that make it. Throws Error{InvalidArgument, "RuntimeError"} for a tensor that the map
// does not have: "TensorPipe RPC backend only supports CPU tensors by default, ...".
PackedTensors pack_tensors(Message& message, const DeviceMap& map, const std::string& to, const CanRead& can_read);

// The other way round: all of the message's tensors, where they belong. `copies` are those of section.spans, on their
// targets. Throws Error{InvalidArgument} for what makes no sense.
void unpack_tensors(Message& message, const SentDevices& section,
                    const std::vector<tensor::Ref<tensor::Storage>>& copies);

}  // namespace distrun::rpc
