#pragma once
// Device memory in a message to a worker of the same process, in place of bytes. The receiver copies it.
#include <memory>
#include <vector>

#include <distrun/runtime/device/stream.hpp>
#include <distrun/runtime/rpc/devices/local_reads.hpp>
#include <distrun/runtime/rpc/tensor_spans.hpp>

namespace distrun::rpc {

struct DeviceParcel {
  std::vector<Span> spans;
  std::vector<device::Event> made;    // signal when all of it is ready; one for each device
  std::shared_ptr<LocalReads> reads;  // the sender's; the receiver notes its copies there
};

}  // namespace distrun::rpc
