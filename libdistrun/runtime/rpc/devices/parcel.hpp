#pragma once
// Memory of devices that stays in the process: what a message to a worker of the same process has with it in place of
// bytes. Whoever unpacks it copies.
#include <memory>
#include <vector>

#include <distrun/runtime/device/stream.hpp>
#include <distrun/runtime/rpc/devices/local_reads.hpp>
#include <distrun/runtime/rpc/tensor_spans.hpp>

namespace distrun::rpc {

struct DeviceParcel {
  std::vector<Span> spans;
  std::vector<device::Event> made;    // when all of it is there; one for each device
  std::shared_ptr<LocalReads> reads;  // of its sender: where whoever copies it notes that
};

}  // namespace distrun::rpc
