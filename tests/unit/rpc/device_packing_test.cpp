// Packing the tensors of a message, and unpacking them.
#include <catch2/catch.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/device/drivers/virtual/virtual_driver.hpp>
#include <distrun/runtime/device/order_report.hpp>
#include <distrun/runtime/device/stream.hpp>
#include <distrun/runtime/rpc/devices/carrier.hpp>
#include <distrun/runtime/rpc/devices/message_step.hpp>
#include <distrun/runtime/rpc/devices/packing.hpp>
#include <distrun/runtime/tensor/closeness.hpp>
#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/core/views.hpp>
#include <distrun/runtime/tensor/operators/elementwise.hpp>

#include "support/gpus.hpp"

namespace distrun::rpc::device_packing_test {
namespace {

const device::Device kFirst = device::cuda(0), kSecond = device::cuda(1);
const DeviceMap kCrossed{{kFirst, kSecond}, {kSecond, kFirst}};

const CanRead all_can = [](device::Device) { return true; };

Tensor counted(std::int64_t count, device::Device device) {
  distrun::testing::use_gpus();
  return tensor::to(tensor::arange(count), TensorOptions{DType::F32, device});
}

Message message_of(TensorList tensors) {
  distrun::testing::use_gpus();
  Message message;
  message.tensors = std::move(tensors);
  return message;
}

// Copies from the first to the last byte, on the target.
std::vector<tensor::Ref<tensor::Storage>> copies_of(const PackedTensors& packed) {
  std::vector<tensor::Ref<tensor::Storage>> copies;
  for (std::size_t i = 0; i < packed.apart.size(); ++i) {
    const Span& span = packed.apart[i];
    const Stream stream = device::current_stream(received(packed.section.spans[i].target));
    copies.push_back(tensor::Storage::make(stream.device(), span.bytes()));
    device::synchronize(span.storage->device());
    stream.driver().copy(stream.ref(), copies.back()->data(), span.data(), span.bytes());
  }
  return copies;
}

std::string differs(const Tensor& found, const Tensor& expected) {
  return tensor::difference(tensor::to(found, device::kCpu), tensor::to(expected, device::kCpu)).value_or("");
}

void require_refused(const std::string& why, const std::function<void(SentDevices&)>& damage) {
  Message message = message_of({counted(4, kFirst), counted(4, device::kCpu)});
  PackedTensors packed = pack_tensors(message, kCrossed, "worker1", all_can);
  damage(packed.section);
  CHECK_THROWS_WITH(unpack_tensors(message, packed.section, copies_of(packed)), Catch::Contains(why));
}

TEST_CASE("races with copies for a message name its call, and where the call was made") {
  device::VirtualSettings settings;
  settings.check_order = true;
  const std::unique_ptr<device::Driver> driver = device::make_virtual_driver(settings);
  std::vector<std::string> found;
  device::tell_order_reports_to([&](const device::OrderReport& report) { found.push_back(report.text); });
  void* const memory = driver->allocate(0, 64);
  const device::StreamRef other{0, driver->make_stream(0, device::Priority::Normal)};
  {
    const MessageStep step("the answer of", "f", "by", "worker1", {"train.cpp", 12});
    driver->fill({}, memory, 0, 64);
  }
  {
    const MessageStep step("the arguments of", "g", "of", "worker2");
    driver->fill(other, memory, 0, 64);
  }
  device::tell_order_reports_to({});
  REQUIRE(found.size() == 1);
  CHECK_THAT(found[0], Catch::StartsWith("the write by fill in the arguments of RPC call \"g\" of worker2 on ") &&
                           Catch::Contains("the write by fill in the answer of RPC call \"f\" by worker1 at "
                                           "train.cpp:12 on "));
}

TEST_CASE("views of one tensor are views of one tensor at the other end, by every path") {
  for (const bool may_stay : {true, false}) {
    const Tensor whole = counted(12, kFirst);
    const Tensor rows = tensor::view(whole, {3, 4});
    Message message = message_of({whole, tensor::transpose(rows, 0, 1), tensor::select_view(rows, 0, 2)});
    const TensorList sent = message.tensors;
    const PackedTensors packed = pack_tensors(message, kCrossed, "worker1", [&](device::Device) { return may_stay; });
    CHECK(packed.apart.size() == (may_stay ? 1 : 0));
    CHECK(message.tensors.size() == (may_stay ? 0 : 3));
    unpack_tensors(message, packed.section, copies_of(packed));
    REQUIRE(message.tensors.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(message.tensors[i].device() == kSecond);
      CHECK(differs(message.tensors[i], sent[i]) == "");
    }
    CHECK(message.tensors[1].strides() == sent[1].strides());
    tensor::mul_(message.tensors[0], 2);
    CHECK(differs(message.tensors[2], tensor::mul(sent[2], 2)) == "");
  }
}

TEST_CASE("tensors of several devices are sent to the devices in the map, and those of the CPU stay") {
  Message message = message_of({counted(3, kSecond), counted(5, device::kCpu), counted(7, kFirst), counted(0, kFirst)});
  const PackedTensors packed = pack_tensors(message, kCrossed, "worker1", all_can);
  CHECK(packed.section.map.size() == 2);
  unpack_tensors(message, packed.section, copies_of(packed));
  std::vector<std::string> found;
  for (const Tensor& each : message.tensors) {
    found.push_back(device::to_string(each.device()) + " " + std::to_string(each.numel()));
  }
  CHECK(found == std::vector<std::string>{"cuda:0 3", "cpu 5", "cuda:1 7", "cuda:1 0"});
}

TEST_CASE("a message with impossible claims about its tensors is refused") {
  require_refused("other tensors than it has", [](SentDevices& section) { section.tensors.pop_back(); });
  require_refused("memory that is not there", [](SentDevices& section) { section.tensors[0].span = 7; });
  require_refused("memory that is not there", [](SentDevices& section) { section.tensors[0].span = -2; });
  require_refused("a device that can't be", [](SentDevices& section) { section.tensors[1].target.index = -1; });
  require_refused("a tensor that can't be", [](SentDevices& section) { section.tensors[0].shape.dtype = 99; });
  require_refused("a tensor that can't be", [](SentDevices& section) {
    section.tensors[0].shape.contiguous = false;
    section.tensors[0].shape.strides = {1, 1, 1};
  });
  require_refused("beyond", [](SentDevices& section) { section.tensors[0].shape.sizes = {400}; });
  require_refused("beyond", [](SentDevices& section) {
    section.tensors[0].shape.contiguous = false;
    section.tensors[0].shape.strides = {100};
  });
}

TEST_CASE("memory of a GPU that the receiver does not see is sent through the host, and the rest is not") {
  Message message = message_of({counted(4, kFirst), counted(8, kSecond)});
  PackedTensors packed =
      pack_tensors(message, kCrossed, "worker1", [](device::Device device) { return device == kSecond; });
  REQUIRE(packed.apart.size() == 1);
  CHECK(packed.apart[0].storage->device() == kSecond);
  CHECK(packed.staged_bytes == 4 * sizeof(float));
  unpack_tensors(message, packed.section, copies_of(packed));
  REQUIRE(message.tensors.size() == 2);
  CHECK(message.tensors[0].device() == kSecond);
  CHECK(message.tensors[1].device() == kFirst);
  CHECK(differs(message.tensors[0], counted(4, kFirst)) == "");
  CHECK(differs(message.tensors[1], counted(8, kSecond)) == "");
}

TEST_CASE("the devices of a message are read without reading the rest of it") {
  Message message = message_of({});
  SentDevices section;
  section.tensors.push_back({sent(kSecond), kByHost, {}});
  section.map.push_back({sent(kSecond), sent(kFirst)});
  CHECK_FALSE(is_packed(message));
  message.sections.push_back({SectionTag::Devices, wire::encode(section)});
  CHECK(is_packed(message));
  CHECK(devices_named_in(message) == std::vector<device::Device>{kSecond, kFirst});
}

TEST_CASE("the reason why handles cannot be used is named") {
  const DeviceSite own{2, "virtual", "here/1/0", 10, {"a", "b"}};
  DeviceSite peer{2, "virtual", "here/1/0", 11, {"b", "c"}};
  CHECK(why_no_handles(own, peer) == "");
  CHECK(own_number_of(own, peer, 0) == 1);
  CHECK_FALSE(own_number_of(own, peer, 1));
  CHECK_FALSE(own_number_of(own, peer, -1));
  peer.uuids = {"c", "d"};
  CHECK(why_no_handles(own, peer) == "it sees none of the GPUs that this worker sees");
  peer.driver = "cuda";
  CHECK(why_no_handles(own, peer) == "its GPUs are of the driver cuda, and these of virtual");
  peer = {2, "virtual", "there/1/0", 11, {}};
  CHECK(why_no_handles(own, peer) == "it runs on another machine, in another container, or for another user");
  peer = {2, "virtual", "here/1/0", 10, {}};
  CHECK(why_no_handles(own, peer) == "it is the same process, which opens no handles of its own");
  CHECK(why_no_handles(own, {}) == "the worker has not told where its devices are: it names none itself");
  CHECK(why_no_handles({0, "", "here/1/0", 10, {}}, peer) == "one of both has no GPU");
}

}  // namespace
}  // namespace distrun::rpc::device_packing_test
