#include "device_cell.hpp"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <limits>
#include <random>
#include <set>

#include <distrun/common/base/error.hpp>
#include <distrun/rpc.hpp>
#include <distrun/runtime/device/gpu.hpp>
#include <distrun/runtime/device/order_report.hpp>
#include <distrun/runtime/store/file_store.hpp>
#include <distrun/tensors.hpp>

#include "struck_agent.hpp"
#include "support/gpus.hpp"

namespace distrun::rpc::testing {
namespace {

constexpr int kErrorsMax = 3;

double seconds(base::Nanoseconds duration) { return std::chrono::duration<double>(duration).count(); }

void keep_busy(device::Device device) {
  const Stream stream = device::current_stream(device);
  stream.driver().busy(stream.ref(), 200'000);
}

// Adds on a separate stream, which is joined again.
Tensor device_sum(const Tensor& a, const Tensor& b) {
  const Stream current = device::current_stream(a.device());
  const Stream own = device::stream_from_pool(a.device());
  Event begin, end;
  begin.record(current);
  begin.block(own);
  Tensor sum;
  {
    const device::StreamGuard guard(own);
    a.record_stream(own);
    b.record_stream(own);
    keep_busy(a.device());
    sum = add(a, b);
  }
  end.record(own);
  end.block(current);
  sum.record_stream(current);
  return sum;
}
DISTRUN_RPC(device_sum)

// Returns a view of a much larger tensor whose elements the busy stream computes only later.
Tensor device_part(const Tensor& a) {
  const Tensor whole = ones({64, 64}, a.options());
  keep_busy(a.device());
  return select(mul(whole, select(a, 0, 0)), 1, 3);
}
DISTRUN_RPC(device_part)

Tensor made_busily(std::int64_t size, double value) {
  const Tensor tensor = full({size}, value, {DType::F32, device::cuda(0)});
  keep_busy(device::cuda(0));
  add_(tensor, 1);
  return tensor;
}

void expect(const Tensor& found, const Tensor& expected) {
  if (found.device() != device::cuda(0)) throw Error(ErrorKind::Failed, "it has come to the wrong device");
  const auto differs = tensor::difference(tensor::to(found, device::kCpu), expected);
  if (differs) throw Error(ErrorKind::Failed, "the sum is wrong: " + *differs);
}

// Concurrent calls from one of several streams, with sizes from empty to a few segments.
void round(int number, int ranks, int at_once, std::mt19937& random) {
  const device::StreamGuard guard(device::stream_from_pool(device::cuda(0)));
  std::vector<std::pair<Future<Tensor>, Tensor>> calls;
  for (int i = 0; i < at_once; ++i) {
    const int to = (number + static_cast<int>(random() % static_cast<unsigned>(ranks))) % ranks;
    const std::int64_t size = random() % 8 == 0 ? 0 : std::int64_t{1} << (random() % 18);
    const Tensor a = made_busily(size, i), b = made_busily(size, number);
    calls.emplace_back(rpc_async(to, device_sum, a, b), full({size}, i + number + 2));
    if (size > 0) calls.emplace_back(rpc_async(to, device_part, a), full({64}, i + 1));
  }
  for (const auto& [call, expected] : calls) expect(call.wait(), expected);
}

void leave() { shutdown({.graceful = false}); }

}  // namespace

void DeviceCell::init(int rank, const std::string& part, int number, int ranks) const {
  auto options = std::make_shared<PipeOptions>();
  options->init_timeout = seconds(kPatience);
  options->rpc_timeout = seconds(kPatience);
  options->store = std::make_shared<PrefixStore>(part, std::make_shared<FileStore>(folder + "/store"));
  for (int peer = 0; peer < kDeviceRanks; ++peer) {
    if (peer != victim || part == "cell") options->set_device_map("worker" + std::to_string(peer), {{0, 1}});
  }
  init_rpc({"worker" + std::to_string(rank), testing::struck_backend(), number, ranks, options});
}

void DeviceCell::be_victim(const Post& post) const {
  // Created before the threads that read it, and never destroyed.
  static auto& left = *new std::atomic<int>(std::numeric_limits<int>::max());
  script().reach = [](Step) {
    if (left.fetch_sub(1) == 0) ::raise(SIGKILL);
  };
  init(victim, "cell", victim, kDeviceRanks);
  post.meet("at work");
  left.store(struck_at);
  std::mt19937 random(static_cast<std::mt19937::result_type>(seed));
  for (int i = 0; i < rounds; ++i) what_comes_of([&] { round(victim, kDeviceRanks, at_once, random); });
  ::raise(SIGKILL);
}

void DeviceCell::be_other(int rank, const Post& post) const {
  device::tell_order_reports_to([&](const device::OrderReport& report) { post.tell("order|0|" + report.text); });
  init(rank, "cell", rank, kDeviceRanks);
  post.meet("at work");
  std::mt19937 random(static_cast<std::mt19937::result_type>(seed + static_cast<unsigned long>(rank)));
  int errors = 0;
  for (int i = 0; i < rounds && errors < kErrorsMax; ++i) {
    const std::string line = timed("calls", [&] { round(rank, kDeviceRanks, at_once, random); });
    const Timed came = timed_of(line);
    if (came.text != "done") ++errors, post.tell(line);
  }
  post.tell("channel|0|" + debug_info().at("devices.worker" + std::to_string((rank + 1) % kDeviceRanks) + ".channel"));
  if (victim < 0) return shutdown();
  post.meet("at end of work");
  leave();
  post.meet("at again");
  const int number = rank < victim ? rank : rank - 1;
  // Collects the streams' pending errors about the killed rank.
  for (int i = 0; i < device::gpu_count(); ++i) what_comes_of([&] { device::synchronize(device::cuda(i)); });
  post.tell(timed("again", [&] {
    init(rank, "again", number, kDeviceRanks - 1);
    for (int i = 0; i < rounds; ++i) round(number, kDeviceRanks - 1, at_once, random);
    shutdown({.graceful = true, .timeout = seconds(kPatience)});
  }));
}

Lines DeviceCell::conduct() const {
  Company company(kDeviceRanks, victim, [this](int rank, const Post& post) {
    ::setenv("DISTRUN_RPC_DEVICE_HANDLES", may_use_handles ? "1" : "0", 1);
    distrun::testing::use_gpus();
    rank == victim ? be_victim(post) : be_other(rank, post);
  });
  if (!company.meet("at work", victim >= 0)) return company.told();
  if (victim < 0 || (company.meet("at end of work") && company.meet("at again"))) company.hear_out();
  return company.told();
}

}  // namespace distrun::rpc::testing
