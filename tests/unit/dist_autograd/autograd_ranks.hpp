#pragma once
// Ranks that are threads, each with a session, for tests of distributed autograd.
#include <catch2/catch.hpp>

#include <distrun/dist_autograd.hpp>

#include "../rpc/faulty_ranks.hpp"
#include "support/process.hpp"
#include "support/sandbox.hpp"

namespace distrun::dist_autograd {

using distrun::testing::eventually;
using distrun::testing::scaled;

class AutogradRanks {
 public:
  // An empty `faults` means no faults.
  explicit AutogradRanks(int world_size, const std::string& faults = "") : ranks_(world_size) {
    REQUIRE(ranks_.run([&](int rank) {
      rpc::init_rpc(faults.empty() ? ranks_.options(rank) : rpc::faulty_options(ranks_, rank, faults));
    }) == rpc::no_errors(world_size));
  }
  void as(int rank, const std::function<void()>& body) const { REQUIRE(ranks_.error_as(rank, body) == ""); }
  std::string error_as(int rank, const std::function<void()>& body) const { return ranks_.error_as(rank, body); }
  std::vector<std::string> run(const std::function<void(int)>& body) const { return ranks_.run(body); }
  int size() const { return ranks_.world_size(); }
  // Returns the contexts and passes that are left on all ranks after a moment; empty: none.
  std::string left_over() const {
    std::string text;
    for (int rank = 0; rank < ranks_.world_size(); ++rank) {
      as(rank, [&] {
        std::string left;
        eventually(scaled(std::chrono::milliseconds(5000)), [&] {
          left.clear();
          for (const auto& [key, value] : debug_info()) left += value == "0" ? "" : key + " " + value + " ";
          return left.empty();
        });
        text += left;
      });
    }
    return text;
  }

 private:
  rpc::Ranks ranks_;
};

inline Tensor leaf(double value, const Dims& sizes = {2, 2}) { return set_requires_grad(full(sizes, value)); }
inline std::string differs(const Tensor& actual, const Tensor& expected) {
  return tensor::difference(actual, expected).value_or("");
}

}  // namespace distrun::dist_autograd
