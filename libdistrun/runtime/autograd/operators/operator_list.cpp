#include <distrun/runtime/autograd/operators/operator_list.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/autograd/operators/all.hpp>
#include <distrun/runtime/autograd/operators/overload_of.hpp>
#include <distrun/runtime/tensor/core/shape.hpp>

namespace distrun::autograd {
namespace {

using detail::overload;
using Int = std::int64_t;

// Operators that have no such form in C++.
Scalar add_numbers(Scalar a, Scalar b) {
  if (a.is_floating() || b.is_floating()) return a.to<double>() + b.to<double>();
  return static_cast<Int>(static_cast<std::uint64_t>(a.to<Int>()) + static_cast<std::uint64_t>(b.to<Int>()));
}
Tensor norm_of_all(Tensor x, Scalar p) { return distrun::norm(x, p); }
Tensor norm_of_dims(Tensor x, Scalar p, Dims dims, bool keep_dims) { return distrun::norm(x, p, dims, keep_dims); }
Tensor norm_of_dim(Tensor x, Scalar p, Int dim, bool keep_dim) { return distrun::norm(x, p, dim, keep_dim); }
Tensor linear_of(Tensor x, Tensor weight, detail::TensorOrNone bias) { return distrun::linear(x, weight, bias); }
Scalar item_of(Tensor tensor) { return tensor.item(); }
Int size_of_dim(Tensor tensor, Int dim) { return tensor.size(dim); }
Int numel_of(Tensor tensor) {
  tensor::check_defined("numel", {&tensor});
  return tensor.numel();
}
Tensor ones_of(Dims sizes, std::string dtype) { return tensor::ones(sizes, {tensor::parse_dtype(dtype), {}}); }
Tensor zeros_of(Dims sizes, std::string dtype) { return tensor::zeros(sizes, {tensor::parse_dtype(dtype), {}}); }
Tensor to_device(Tensor tensor, std::string device) { return distrun::to(tensor, device::parse_device(device)); }

tensor::Pair pair_of(const char* op, const char* what, const Dims& dims) {
  if (dims.size() == 2) return {dims[0], dims[1]};
  if (dims.size() == 1) return {dims[0], dims[0]};
  throw Error(ErrorKind::InvalidArgument,
              std::string(op) + ": " + what + " must have 1 or 2 numbers, not " + std::to_string(dims.size()));
}
Tensor conv2d_of(Tensor input, Tensor weight, detail::TensorOrNone bias, Dims stride, Dims padding) {
  return distrun::conv2d(input, weight, bias,
                         {pair_of("conv2d", "stride", stride), pair_of("conv2d", "padding", padding)});
}
Tensor max_pool2d_of(Tensor input, Dims window, Dims stride, Dims padding) {
  const tensor::Pair no_stride = 0;
  return distrun::max_pool2d(input, {pair_of("max_pool2d", "window", window),
                                     stride.empty() ? no_stride : pair_of("max_pool2d", "stride", stride),
                                     pair_of("max_pool2d", "padding", padding)});
}
Tensor embedding_bag_of(Tensor table, Tensor indices, Tensor offsets, std::string mode, bool sparse,
                        detail::TensorOrNone weights) {
  if (mode != "sum" && mode != "mean") {
    throw Error(ErrorKind::InvalidArgument, "embedding_bag: mode must be \"sum\" or \"mean\"");
  }
  const BagMode bag_mode = mode == "sum" ? BagMode::Sum : BagMode::Mean;
  return distrun::embedding_bag(table, {indices, offsets, bag_mode, weights}, sparse);
}
Tensor batch_norm_of(Tensor input, detail::TensorOrNone weight, detail::TensorOrNone bias, Scalar epsilon) {
  return distrun::batch_norm(input, weight, bias, epsilon.to<double>());
}
Tensor layer_norm_of(Tensor input, Dims sizes, detail::TensorOrNone weight, detail::TensorOrNone bias, double epsilon) {
  return distrun::layer_norm(input, sizes, weight, bias, epsilon);
}
Tensor nll_loss_of(Tensor input, Tensor target, detail::TensorOrNone weight, Int ignore_index, std::string reduction) {
  return distrun::nll_loss(input, target, {weight, ignore_index, tensor::parse_reduction("nll_loss", reduction)});
}
Tensor cross_entropy_of(Tensor input, Tensor target, detail::TensorOrNone weight, Int ignore_index,
                        std::string reduction, double smoothing) {
  const Reduction kind = tensor::parse_reduction("cross_entropy", reduction);
  return distrun::cross_entropy(input, target, {weight, ignore_index, kind, smoothing});
}
TensorList max_along_of(Tensor tensor, Int dim, bool keep_dim) {
  const Extremes found = distrun::max_along(tensor, dim, keep_dim);
  return {found.values, found.indices};
}
TensorList min_along_of(Tensor tensor, Int dim, bool keep_dim) {
  const Extremes found = distrun::min_along(tensor, dim, keep_dim);
  return {found.values, found.indices};
}
Tensor arange_of(Scalar start, Scalar end, Scalar step) { return tensor::arange(start, end, step); }
Tensor arange_to(Scalar end) { return tensor::arange(Int{0}, end); }
Tensor linspace_of(Scalar start, Scalar end, Int steps, std::string dtype) {
  return tensor::linspace(start, end, steps, tensor::parse_dtype(dtype));
}
Tensor randint_of(Int low, Int high, Dims sizes) { return tensor::randint(low, high, sizes); }
Tensor randint_below(Int high, Dims sizes) { return tensor::randint(high, sizes); }
Tensor randperm_of(Int count) { return tensor::randperm(count); }
Tensor bernoulli_of(Tensor probabilities) { return tensor::bernoulli(probabilities); }
Tensor rand_of(Dims sizes, std::string dtype) { return tensor::rand(sizes, {tensor::parse_dtype(dtype), {}}); }
Tensor randn_of(Dims sizes, std::string dtype) { return tensor::randn(sizes, {tensor::parse_dtype(dtype), {}}); }
// The table differs from C++: a bound that is left out is clamp_min() or clamp_max().
Tensor clamp_of(Tensor a, Scalar least, Scalar largest) { return distrun::clamp(a, least, largest); }
Tensor clamp_of_(Tensor a, Scalar least, Scalar largest) { return distrun::clamp_(a, least, largest); }

// The parameters of the functions that have overloads: T a tensor, S a number.
using TT = Tensor (*)(const Tensor&, const Tensor&);
using TS = Tensor (*)(const Tensor&, const Scalar&);
using ST = Tensor (*)(const Scalar&, const Tensor&);
using TTT = Tensor (*)(const Tensor&, const Tensor&, const Tensor&);
using TTS = Tensor (*)(const Tensor&, const Tensor&, const Scalar&);
using TST = Tensor (*)(const Tensor&, const Scalar&, const Tensor&);
using TSS = Tensor (*)(const Tensor&, const Scalar&, const Scalar&);
// Reductions of all elements, of some dimensions, along one; most can keep the reduced dimensions.
using Whole = Tensor (*)(const Tensor&);
using OverDims = Tensor (*)(const Tensor&, const Dims&, bool);
using Along = Tensor (*)(const Tensor&, Int, bool);
// The same with a bool of the operator.
using OfAll = Tensor (*)(const Tensor&, bool);
using OfDims = Tensor (*)(const Tensor&, const Dims&, bool, bool);
using OfDim = Tensor (*)(const Tensor&, Int, bool, bool);
using OneDim = Tensor (*)(const Tensor&, Int);
using BySize = TensorList (*)(const Tensor&, Int, Int);
using BySizes = TensorList (*)(const Tensor&, const Dims&, Int);

// The parts of an entry, beside overloads.
struct NoGradient {
  const char* why;
};
struct RecordedAs {
  const char* name;
};
NoGradient no_gradient(const char* why) { return {why}; }
RecordedAs recorded_as(const char* name) { return {name}; }

void add_part(Operator& entry, Overload part) { entry.overloads.push_back(std::move(part)); }
void add_part(Operator& entry, NoGradient part) { entry.no_gradient = part.why; }
void add_part(Operator& entry, RecordedAs part) { entry.recorded_as = part.name; }

template <class... Parts>
Operator entry_of(const char* by_name, Parts... parts) {
  Operator entry;
  entry.by_name = by_name;
  (add_part(entry, std::move(parts)), ...);
  return entry;
}

OperatorList make_list() {
  const Value none = std::monostate(), no = false, yes = true, one = Int{1};
  const Value float32 = std::string("float32"), mean = std::string("mean");
  OperatorList list;
#define DISTRUN_OPERATOR(name, ...) list.emplace(#name, entry_of("", __VA_ARGS__));
#define DISTRUN_OPERATOR_BY_NAME(name, why, ...) list.emplace(#name, entry_of(why, __VA_ARGS__));
#include <distrun/runtime/autograd/operators/operator_entries.inc>
#undef DISTRUN_OPERATOR
#undef DISTRUN_OPERATOR_BY_NAME
  return list;
}

}  // namespace

const OperatorList& operator_list() {
  static const OperatorList* const list = new OperatorList(make_list());
  return *list;
}

namespace detail {

Scalar number_of(const Value& value) {
  if (const bool* flag = std::get_if<bool>(&value)) return *flag;
  if (const Int* whole = std::get_if<Int>(&value)) return *whole;
  return std::get<double>(value);
}

double float_of(const Value& value) {
  const Int* const whole = std::get_if<Int>(&value);
  return whole != nullptr ? static_cast<double>(*whole) : std::get<double>(value);
}

Value value_of(Tensor result) { return result; }
Value value_of(TensorList result) { return result; }
Value value_of(bool result) { return result; }
Value value_of(std::int64_t result) { return result; }
Value value_of(double result) { return result; }
Value value_of(const Scalar& result) {
  if (result.is_floating()) return result.to<double>();
  if (result.dtype() == tensor::DType::Bool) return result.to<bool>();
  return result.to<Int>();
}

}  // namespace detail
}  // namespace distrun::autograd
