#pragma once
// Cases for check_gradients(): operators with random inputs of suitable sizes. Every operator with a gradient is
// checked in all its overloads, over seeded shapes with zero sizes, broadcasting and views, on the CPU and on a GPU: a
// virtual one, and one of the emulated CUDA, in a binary each.
#include <map>
#include <string>
#include <vector>

#include "central_differences.hpp"

namespace distrun::test {

struct Case {
  Function function;
  TensorList inputs;
};
using MakeCase = std::function<Case(RandomTensors&)>;
using Cases = std::map<std::string, MakeCase>;  // by name
using Sizes = std::vector<Dims>;

inline TensorList one(Tensor tensor) { return {std::move(tensor)}; }

// A case with two tensors that broadcast to common sizes.
MakeCase binary(std::function<Tensor(const Tensor&, const Tensor&)> function);
// The first tensor keeps its sizes: for in-place operators, on a clone.
MakeCase in_place(std::function<void(const Tensor&, const Tensor&)> function);
MakeCase unary(std::function<Tensor(const Tensor&)> function, std::size_t least_rank = 0);
// A case with sizes derived from the same random numbers n, k, m, l.
using MakeSizes = std::function<Sizes(std::int64_t, std::int64_t, std::int64_t, std::int64_t)>;
MakeCase sized(MakeSizes sizes, Function function);

// All checked cases, by family. gradient_coverage_test.cpp finds operators without one.
Cases elementwise_cases();
Cases in_place_cases();
Cases reduction_cases();
Cases normalization_cases();
Cases loss_cases();
Cases extreme_cases();
Cases statistics_cases();
Cases indexing_cases();
Cases product_cases();
Cases matmul_cases();
Cases linear_cases();
Cases image_cases();
Cases embedding_cases();
Cases sparse_cases();
Cases view_cases();
Cases copy_cases();
Cases changed_view_cases();

// Checks each case with several seeds.
void check_on_all_devices(const Cases& cases);

}  // namespace distrun::test
