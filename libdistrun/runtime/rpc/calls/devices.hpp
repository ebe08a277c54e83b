#pragma once
// Tensors on GPUs in messages: which device of the receiver each comes to. The caller's device map says so for a call;
// an answer takes the same way back, so that whoever is called needs no map of its own. A tensor travels by way of the
// CPU: it is copied there before the message is sent, and to its device once it has arrived.
#include <map>
#include <string>

#include <distrun/runtime/device/device.hpp>
#include <distrun/runtime/rpc/message.hpp>

namespace distrun::rpc {

using DeviceMap = std::map<device::Device, device::Device>;  // from here to there

// Puts tensors that are on GPUs, or that the map moves, onto the CPU, and tells where they belong; with the map, if
// the message is a call. Waits for the devices. Throws Error{InvalidArgument, "RuntimeError"} for one that the map does
// not have: "TensorPipe RPC backend only supports CPU tensors by default, ...".
void stage_out(Message& message, const DeviceMap& map, const std::string& to);

bool is_staged(const Message& message) noexcept;
// Tensors to where they belong, on the calling thread's current streams; the way back for the answer. Throws
// Error{InvalidArgument} for what no stage_out() has written, and what a device throws.
DeviceMap stage_in(Message& message);

}  // namespace distrun::rpc
