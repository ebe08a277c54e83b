#pragma once
// Formats the numbers of one tensor so that they align in columns: all as integers, with four digits after the point,
// or with an exponent.
#include <string>

#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor {

class NumberFormat {
 public:
  // Chooses the format from the elements of `sample`, a CPU tensor.
  explicit NumberFormat(const Tensor& sample);

  std::size_t width() const noexcept { return width_; }
  std::string padded(const Scalar& value) const;  // at least width() wide

 private:
  enum class Style : std::uint8_t { Bool, Integer, Whole, Fixed, Exponent };

  void choose_for_floating(const Tensor& sample);
  std::string plain(const Scalar& value) const;

  Style style_ = Style::Integer;
  std::size_t width_ = 1;
};

}  // namespace distrun::tensor
