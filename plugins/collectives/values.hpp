#pragma once
// Inputs of ranks, and expected results.
#include <functional>
#include <vector>

#include <distrun/collectives.hpp>
#include <distrun/tensors.hpp>
#include <distrun/test.hpp>

namespace distrun::suites {

inline constexpr DType kDTypes[] = {DType::Bool, DType::U8,  DType::I8,  DType::I16,
                                    DType::I32,  DType::I64, DType::F32, DType::F64};
// Numbers of elements: none, one, fewer and more than ranks, within and beyond the limits of messages and buffers.
inline constexpr std::int64_t kCounts[] = {0, 1, 3, 1000, 40'000, 300'001};

// Returns the device for tensors of the default group: the rank's GPU with backend nccl, otherwise the CPU.
device::Device home();
inline Tensor here(const Tensor& tensor) { return tensor::to(tensor, home()); }

// Returns a separate GPU for each rank, if there are enough.
device::Device own_gpu(const Rank& rank);

// Returns small numbers that differ by rank and position: all their reductions are exact. On home(), as all below.
Tensor numbers_of(int rank, std::int64_t count, DType dtype = DType::F32);
// Returns the reduction of numbers_of() for ranks 0 .. world_size - 1.
Tensor reduced(int world_size, std::int64_t count, ReduceOp op, DType dtype = DType::F32);

// Fails the test with the difference.
void expect_same(const Tensor& actual, const Tensor& expected, base::Location where = base::Location::here());

// Returns uninitialised receive tensors, `ranks` of them; with default options they are on home().
TensorList room_for(int ranks, std::int64_t count, TensorOptions options = {});

// Blocks until the host knows the result; throws the call's error. Except with nccl, a call is done when it returns.
void settle(const Work& work, base::Location where = base::Location::here());

// Skips a run with nccl that lacks a GPU for each rank; the reason tells how to get them on any machine.
SkipCondition needs_gpus_for_nccl();
// Skip backends that lack the collective, and nccl.
SkipCondition needs_collective(std::string name);
SkipCondition not_with_nccl(std::string why);
SkipCondition not_alone_with_nccl();  // for messages to the calling rank, which nccl lacks

}  // namespace distrun::suites
