#pragma once
// A process without memory for tensors of some size.
#include <catch2/catch.hpp>

#include <exception>
#include <optional>
#include <vector>

#include <distrun/runtime/tensor/core/storage.hpp>

#include "support/limits.hpp"

namespace distrun::agents::pipe::testing {

// Exists for a scope. Also takes the memory that the process has mapped and does not use, as after other tests.
class NoRoomFor {
 public:
  explicit NoRoomFor(std::size_t bytes) {
    taken_.reserve(kMost);
    limit_.emplace(0);
    try {
      while (taken_.size() < kMost) taken_.push_back(tensor::Storage::make(device::kCpu, bytes));
    } catch (const std::exception&) {
      return;
    }
    FAIL("there is memory all the same");
  }

 private:
  static constexpr std::size_t kMost = 64;
  std::vector<tensor::Ref<tensor::Storage>> taken_;
  std::optional<distrun::testing::LittleMemory> limit_;
};

}  // namespace distrun::agents::pipe::testing
