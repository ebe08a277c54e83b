#pragma once
// Reads the files that scripts/golden_tensor.py writes.
#include <map>
#include <string>
#include <vector>

#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor {

struct GoldenCase {
  std::string name;
  std::string place;  // "sums.txt:12"
  std::map<std::string, std::vector<double>> numbers;
  std::map<std::string, Tensor> tensors;

  const Tensor& operator[](const std::string& key) const { return tensors.at(key); }
};

// Reads a file of tests/golden/tensor, onto that device. Throws std::runtime_error for an invalid line.
std::vector<GoldenCase> read_golden(const std::string& file, Device device);

}  // namespace distrun::tensor
