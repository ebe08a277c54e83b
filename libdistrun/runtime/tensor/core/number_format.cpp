#include <distrun/runtime/tensor/core/number_format.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>

namespace distrun::tensor {
namespace {

// The exponent form is used beyond these: columns of fixed digits would be too wide, or would show nothing.
constexpr double kMostRatio = 1000, kMost = 1e8, kLeast = 1e-4;

std::string printed(const char* format, double value) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, format, value);
  return buffer;
}

}  // namespace

NumberFormat::NumberFormat(const Tensor& sample) {
  if (sample.dtype() == DType::Bool) style_ = Style::Bool;
  if (is_floating(sample.dtype())) {
    choose_for_floating(sample);
    return;
  }
  for (const std::int64_t value : to_vector<std::int64_t>(to(sample, DType::I64))) {
    width_ = std::max(width_, plain(style_ == Style::Bool ? Scalar(value != 0) : Scalar(value)).size());
  }
}

// Ignores elements that are 0, infinite or NaN.
void NumberFormat::choose_for_floating(const Tensor& sample) {
  std::vector<double> values = to_vector<double>(to(sample, DType::F64));
  std::erase_if(values, [](double value) { return value == 0 || !std::isfinite(value); });
  double least = std::numeric_limits<double>::infinity(), most = 0;
  bool are_whole = true;
  for (const double value : values) {
    least = std::min(least, std::abs(value));
    most = std::max(most, std::abs(value));
    are_whole = are_whole && value == std::ceil(value);
  }
  style_ = are_whole ? Style::Whole : Style::Fixed;
  const bool is_wide = !values.empty() && (most / least > kMostRatio || most > kMost);
  if (is_wide || (!are_whole && least < kLeast)) style_ = Style::Exponent;
  for (const double value : values) width_ = std::max(width_, plain(value).size());
}

std::string NumberFormat::plain(const Scalar& value) const {
  switch (style_) {
    case Style::Bool: return value.to<bool>() ? "true" : "false";
    case Style::Integer: return std::to_string(value.to<std::int64_t>());
    default: break;
  }
  const double number = value.to<double>();
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
  if (style_ == Style::Whole) return printed("%.0f.", number);
  return printed(style_ == Style::Fixed ? "%.4f" : "%.4e", number);
}

std::string NumberFormat::padded(const Scalar& value) const {
  const std::string text = plain(value);
  return text.size() < width_ ? std::string(width_ - text.size(), ' ') + text : text;
}

}  // namespace distrun::tensor
