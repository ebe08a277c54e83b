#pragma once
// What ranks bring, and what must come of it.
#include <functional>
#include <vector>

#include <distrun/collectives.hpp>
#include <distrun/tensors.hpp>
#include <distrun/test.hpp>

namespace distrun::suites {

inline constexpr DType kDTypes[] = {DType::Bool, DType::U8,  DType::I8,  DType::I16,
                                    DType::I32,  DType::I64, DType::F32, DType::F64};
// Elements: none, one, fewer and more than ranks, a letter's and an exchange's room and more.
inline constexpr std::int64_t kCounts[] = {0, 1, 3, 1000, 40'000, 300'001};

// Where tensors of the default group belong: with backend nccl on the rank's GPU, else on the CPU.
device::Device home();
inline Tensor here(const Tensor& tensor) { return tensor::to(tensor, home()); }

// A GPU of the rank's own, as far as there are enough.
device::Device own_gpu(const Rank& rank);

// Small numbers that differ by rank and place: all reductions of them are exact. These, and all below, are at home.
Tensor numbers_of(int rank, std::int64_t count, DType dtype = DType::F32);
// Of the numbers of ranks 0 .. world_size - 1.
Tensor reduced(int world_size, std::int64_t count, ReduceOp op, DType dtype = DType::F32);

// Fails the test, with what differs.
void expect_same(const Tensor& actual, const Tensor& expected, base::Location where = base::Location::here());

// So many tensors without meaning; those of the CPU's options are at home.
TensorList room_for(int ranks, std::int64_t count, TensorOptions options = {});

// Until the host can know what has come of it; throws what has gone wrong. But for nccl a call is done when it returns.
void settle(const Work& work, base::Location where = base::Location::here());

// A run with nccl needs a GPU for each rank; says how to have them anywhere.
SkipCondition needs_gpus_for_nccl();
// What backends do not know: of the table of collectives, or nccl alone.
SkipCondition needs_collective(std::string name);
SkipCondition not_with_nccl(std::string why);
SkipCondition not_alone_with_nccl();  // letters: a rank has none for itself

}  // namespace distrun::suites
