#pragma once
// Reports the elements in which two sequences of numbers differ: their count and the worst ones.
#include <cstddef>
#include <string>
#include <vector>

namespace distrun::base {

class WorstElements {
 public:
  static constexpr std::size_t kKept = 5;
  struct Element {
    std::size_t index;
    long double distance;
  };

  // Adds an element that differs. A NaN distance is greater than all others.
  void add(std::size_t index, long double distance);

  bool empty() const noexcept { return count_ == 0; }
  const std::vector<Element>& worst() const noexcept { return worst_; }  // the worst first, up to kKept

  // Returns "2 of 6 elements differ by more than 1e-06 + 0.001 |expected|:" and a line for each of the worst;
  // `elements` holds the beginnings of these lines: "[1, 3]: 2.5, expected 2".
  std::string text(std::size_t total, double relative, double absolute, const std::vector<std::string>& elements) const;

 private:
  std::size_t count_ = 0;
  std::vector<Element> worst_;
};

}  // namespace distrun::base
