#include <distrun/runtime/tensor/closeness.hpp>

#include <charconv>
#include <cmath>

#include <distrun/common/base/decompose.hpp>
#include <distrun/common/base/worst_elements.hpp>
#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/core/shape.hpp>
#include <distrun/runtime/tensor/core/views.hpp>
#include <distrun/runtime/tensor/operators/elementwise.hpp>
#include <distrun/runtime/tensor/sparse/sparse.hpp>

namespace distrun::tensor {
namespace {

std::string text_of(double value) {
  char buffer[32];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
}

std::string index_text(std::int64_t number, const Dims& sizes) {
  Dims index(sizes.size(), 0);
  for (std::size_t dim = sizes.size(); dim-- > 0; number /= sizes[dim]) index[dim] = number % sizes[dim];
  return to_string(index);
}

bool are_close(double actual, double expected, const Tolerance& tolerance, bool equal_nan) {
  if (actual == expected) return true;
  if (std::isnan(actual) || std::isnan(expected)) return equal_nan && std::isnan(actual) && std::isnan(expected);
  if (std::isinf(actual) || std::isinf(expected)) return false;
  return std::abs(actual - expected) <= tolerance.absolute + tolerance.relative * std::abs(expected);
}
bool are_close(std::int64_t actual, std::int64_t expected, const Tolerance& tolerance, bool) {
  if (actual == expected) return true;
  const double distance = std::abs(static_cast<double>(actual) - static_cast<double>(expected));
  return tolerance.absolute + tolerance.relative > 0 &&
         distance <= tolerance.absolute + tolerance.relative * std::abs(static_cast<double>(expected));
}

std::string value_text(double value) { return text_of(value); }
std::string value_text(std::int64_t value) { return std::to_string(value); }

template <class T>
std::optional<std::string> element_difference(const Tensor& actual, const Tensor& expected, const Tolerance& tolerance,
                                              bool equal_nan) {
  const std::vector<T> left = to_vector<T>(to(actual, dtype_of<T>)), right = to_vector<T>(to(expected, dtype_of<T>));
  std::size_t count = 0, first = 0, worst = 0;
  double greatest = -1;
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (are_close(left[i], right[i], tolerance, equal_nan)) continue;
    if (count++ == 0) first = i;
    const double distance = std::abs(static_cast<double>(left[i]) - static_cast<double>(right[i]));
    if (distance > greatest) {
      greatest = distance;
      worst = i;
    }
  }
  if (count == 0) return std::nullopt;
  const auto at = [&](std::size_t i) {
    return index_text(static_cast<std::int64_t>(i), actual.sizes()) + ": " + value_text(left[i]) + ", expected " +
           value_text(right[i]);
  };
  std::string text = std::to_string(count) + " of " + std::to_string(left.size()) + " elements differ";
  if (tolerance.absolute + tolerance.relative > 0) {
    text += " by more than " + text_of(tolerance.absolute) + " + " + text_of(tolerance.relative) + " |expected|";
  }
  text += "; the first at " + at(first);
  if (count > 1 && greatest >= 0) text += "; the greatest by " + text_of(greatest) + " at " + at(worst);
  return text;
}

std::optional<std::string> dense_difference(const Tensor& actual, const Tensor& expected,
                                            const CompareOptions& options) {
  const DType wider = promote(actual.dtype(), expected.dtype());
  const Tolerance tolerance = options.tolerance.value_or(tolerance_of(wider));
  return is_floating(wider) ? element_difference<double>(actual, expected, tolerance, options.equal_nan)
                            : element_difference<std::int64_t>(actual, expected, tolerance, options.equal_nan);
}

std::optional<std::string> sparse_difference(const Tensor& actual, const Tensor& expected,
                                             const CompareOptions& options) {
  const Tensor left = coalesce(actual), right = coalesce(expected);
  if (nnz(left) != nnz(right) || sparse_dim(left) != sparse_dim(right)) {
    return std::to_string(nnz(left)) + " entries in " + std::to_string(sparse_dim(left)) +
           " sparse dimensions, expected " + std::to_string(nnz(right)) + " in " + std::to_string(sparse_dim(right));
  }
  if (auto found = dense_difference(sparse(left).indices, sparse(right).indices, {})) return "indices: " + *found;
  if (auto found = dense_difference(sparse(left).values, sparse(right).values, options)) return "values: " + *found;
  return std::nullopt;
}

// Shows a float32 element as a float, not as a double.
template <class T>
std::string element_text(T value, DType dtype) {
  return dtype == DType::F32 ? base::shortest(static_cast<float>(value)) : value_text(value);
}

template <class T>
std::string worst_elements_of(const Tensor& actual, const Tensor& expected, const Tolerance& tolerance) {
  const std::vector<T> left = to_vector<T>(to(actual, dtype_of<T>)), right = to_vector<T>(to(expected, dtype_of<T>));
  base::WorstElements differing;
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (are_close(left[i], right[i], tolerance, false)) continue;
    differing.add(i, std::abs(static_cast<long double>(left[i]) - static_cast<long double>(right[i])));
  }
  std::vector<std::string> elements;
  for (const auto& [index, distance] : differing.worst()) {
    elements.push_back(index_text(static_cast<std::int64_t>(index), actual.sizes()) + ": " +
                       element_text(left[index], actual.dtype()) + ", expected " +
                       element_text(right[index], expected.dtype()));
  }
  return differing.text(left.size(), tolerance.relative, tolerance.absolute, elements);
}

std::string worst_elements(const Tensor& actual, const Tensor& expected, const Tolerance& tolerance) {
  return is_floating(promote(actual.dtype(), expected.dtype()))
             ? worst_elements_of<double>(actual, expected, tolerance)
             : worst_elements_of<std::int64_t>(actual, expected, tolerance);
}

// Compares everything but the elements.
bool have_same_form(const Tensor& actual, const Tensor& expected, const CompareOptions& options) {
  return actual.sizes() == expected.sizes() && actual.is_sparse() == expected.is_sparse() &&
         (!options.check_dtype || actual.dtype() == expected.dtype()) &&
         (!options.check_device || actual.device() == expected.device());
}

}  // namespace

Tolerance tolerance_of(DType dtype) noexcept {
  switch (dtype) {
    case DType::F32: return {1.3e-6, 1e-5};
    case DType::F64: return {1e-7, 1e-7};
    default: return {};
  }
}

std::optional<std::string> difference(const Tensor& actual, const Tensor& expected, const CompareOptions& options) {
  if (!actual.defined() && !expected.defined()) return std::nullopt;
  if (!actual.defined() || !expected.defined() || !have_same_form(actual, expected, options)) {
    return describe(actual) + ", expected " + describe(expected);
  }
  return actual.is_sparse() ? sparse_difference(actual, expected, options)
                            : dense_difference(actual, expected, options);
}

bool is_close(const Tensor& actual, const Tensor& expected, const CompareOptions& options) {
  return !difference(actual, expected, options);
}

bool allclose(const Tensor& input, const Tensor& other, double rtol, double atol, bool equal_nan) {
  check_defined("allclose", {&input, &other});
  check_dense("allclose", {&input, &other});
  check_same_dtype("allclose", input, other);
  const Dims sizes = broadcast("allclose", input, other);
  CompareOptions options{.tolerance = Tolerance{rtol, atol}, .equal_nan = equal_nan};
  return is_close(expand(input, sizes), expand(other, sizes), options);
}

std::string check_close(const Tensor& actual, const Tensor& expected, double rtol, double atol) {
  const CompareOptions options{.tolerance = Tolerance{rtol, atol}, .equal_nan = false};
  const auto found = difference(actual, expected, options);
  if (!found || !actual.defined() || !have_same_form(actual, expected, options)) return found.value_or("");
  if (!actual.is_sparse()) return worst_elements(actual, expected, *options.tolerance);
  if (!found->starts_with("values: ")) return *found;
  return "values: " +
         worst_elements(sparse(coalesce(actual)).values, sparse(coalesce(expected)).values, *options.tolerance);
}

}  // namespace distrun::tensor
