#include "values.hpp"

#include <algorithm>
#include <cmath>

namespace distrun::suites {
namespace {

double number_at(int rank, std::int64_t at) { return static_cast<double>((at + 2 * rank) % 3 + 1); }

double apply(ReduceOp op, double a, double b) {
  const auto x = static_cast<std::int64_t>(a), y = static_cast<std::int64_t>(b);
  switch (op) {
    case ReduceOp::Sum:
    case ReduceOp::Avg: return a + b;
    case ReduceOp::Product: return a * b;
    case ReduceOp::Min: return std::min(a, b);
    case ReduceOp::Max: return std::max(a, b);
    case ReduceOp::BitAnd: return static_cast<double>(x & y);
    case ReduceOp::BitOr: return static_cast<double>(x | y);
    case ReduceOp::BitXor: return static_cast<double>(x ^ y);
  }
  return 0;
}

Tensor from(std::int64_t count, DType dtype, const std::function<double(std::int64_t)>& number) {
  const Tensor all = tensor::empty({count}, {DType::F64});
  for (std::int64_t i = 0; i < count; ++i) all.data_as<double>()[i] = number(i);
  return here(tensor::to(all, dtype));
}

// A bool is whether the number is odd.
double element_of(int rank, std::int64_t at, DType dtype) {
  const double number = number_at(rank, at);
  return dtype == DType::Bool ? std::fmod(number, 2) : number;
}

}  // namespace

device::Device home() { return collectives::is_initialized() ? default_group()->device() : device::kCpu; }

device::Device own_gpu(const Rank& rank) { return device::cuda(rank.rank() % rank.gpus()); }

Tensor numbers_of(int rank, std::int64_t count, DType dtype) {
  return from(count, dtype, [&](std::int64_t at) { return element_of(rank, at, dtype); });
}

Tensor reduced(int world_size, std::int64_t count, ReduceOp op, DType dtype) {
  return from(count, dtype, [&](std::int64_t at) {
    double all = element_of(0, at, dtype);
    for (int rank = 1; rank < world_size; ++rank) all = apply(op, all, element_of(rank, at, dtype));
    return op == ReduceOp::Avg ? all / world_size : all;
  });
}

void expect_same(const Tensor& actual, const Tensor& expected, base::Location where) {
  const auto differs = tensor::difference(tensor::to(actual, device::kCpu), tensor::to(expected, device::kCpu));
  if (differs) throw Error(ErrorKind::Failed, "CheckFailed", *differs, where);
  DISTRUN_EXPECT(!differs);  // counts the check; the error above has the caller's location
}

TensorList room_for(int ranks, std::int64_t count, TensorOptions options) {
  TensorList all;
  if (options.device.is_cpu()) options.device = home();
  for (int i = 0; i < ranks; ++i) all.push_back(tensor::full({count}, 1, options));
  return all;
}

void settle(const Work& work, base::Location where) { work.wait(std::chrono::minutes(1), where); }

SkipCondition needs_gpus_for_nccl() {
  return [](const ListContext& run) -> std::optional<Skip> {
    if (run.backend != "nccl" || run.gpus >= run.world_size) return std::nullopt;
    const std::string ranks = std::to_string(run.world_size);
    const std::string there = run.gpus == 0 ? "the run has none: " + run.why_no_gpu
                                            : "the run has " + std::to_string(run.gpus) + " for " + ranks + " ranks";
    return Skip{.reason = "backend nccl needs a GPU for each rank, and " + there +
                          "; it runs anywhere on virtual ones: --gpu-driver virtual --gpus " + ranks};
  };
}

SkipCondition needs_collective(std::string name) {
  return skip_if([name](const ListContext& run) { return !backend_supports(run.backend, name); },
                 "the backend has no \"" + name + "\"");
}

SkipCondition not_with_nccl(std::string why) {
  return skip_if([](const ListContext& run) { return run.backend == "nccl"; }, "not with nccl: " + why);
}

SkipCondition not_alone_with_nccl() {
  return skip_if([](const ListContext& run) { return run.backend == "nccl" && run.world_size < 2; },
                 "not with nccl: a rank cannot send to itself");
}

}  // namespace distrun::suites
