// Ranks that call each other: tensors of two GPUs mapped by a device map, and a function that throws.
#include <distrun/rpc.hpp>
#include <distrun/tensors.hpp>
#include <distrun/test.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

using namespace distrun;

namespace {

Tensor filled(Device device, double value) { return full({3}, value, {DType::F32, device}); }
bool is(const Tensor& tensor, Device device, double value) {
  return tensor.device() == device && equal(to(tensor, device::kCpu), full({3}, value));
}

// The arguments arrive by the map 0 -> 1, and the results return by its inverse.
std::vector<Tensor> sum_and_first(const Tensor& a, const Tensor& b) {
  if (a.device() != device::cuda(1)) throw Error(ErrorKind::Failed, "it is on " + device::to_string(a.device()));
  return {add(a, b), a};
}
DISTRUN_RPC(sum_and_first)

volatile int calls = 0;
__attribute__((noinline)) void check_positive(int number) {
  if (number < 1) throw std::invalid_argument("it is " + std::to_string(number));
  calls = calls + 1;
}
__attribute__((noinline)) int half_of(int number) {
  check_positive(number);
  return number / 2;
}
DISTRUN_RPC(half_of)

}  // namespace

DISTRUN_TEST(RpcRanks, tensors_go_by_the_map_and_back, .world_size = fixed(2), .devices = 2) {
  const auto options = std::make_shared<rpc::PipeOptions>();
  if (rank.rank() == 0) options->set_device_map("worker1", {{0, 1}});
  init_rpc(rank, options);
  if (rank.rank() == 0) {
    const Device first = device::cuda(0), second = device::cuda(1);
    for (int i = 1; i <= 20; ++i) {
      const std::vector<Tensor> back = rpc_sync(1, sum_and_first, filled(first, i), filled(first, 2 * i));
      DISTRUN_EXPECT(back.size() == 2);
      DISTRUN_EXPECT(is(back.at(0), first, 3 * i));
      DISTRUN_EXPECT(is(back.at(1), first, i));
    }
    DISTRUN_EXPECT_THROWS(Error,
                          "TensorPipe RPC backend only supports CPU tensors by default, please move your tensors to "
                          "CPU before sending them over RPC, or call `set_device_map` on "
                          "`TensorPipeRpcBackendOptions` to explicitly configure device mapping. Request device "
                          "mapping is not available for destination worker1: cuda:1 has none",
                          rpc_sync(1, sum_and_first, filled(first, 1), filled(second, 1)));
  }
  rpc::shutdown();
}

DISTRUN_TEST(RpcRanks, lets_an_error_out, .world_size = fixed(2)) {
  init_rpc(rank);
  if (rank.rank() == 0) rpc_sync(1, half_of, 0);
  rpc::shutdown();
}
