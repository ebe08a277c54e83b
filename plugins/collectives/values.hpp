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

// Small numbers that differ by rank and place: all reductions of them are exact.
Tensor numbers_of(int rank, std::int64_t count, DType dtype = DType::F32);
// Of the numbers of ranks 0 .. world_size - 1.
Tensor reduced(int world_size, std::int64_t count, ReduceOp op, DType dtype = DType::F32);

// Fails the test, with what differs.
void expect_same(const Tensor& actual, const Tensor& expected, base::Location where = base::Location::here());

// So many tensors without meaning.
TensorList room_for(int ranks, std::int64_t count, TensorOptions options = {});

}  // namespace distrun::suites
