#include <distrun/runtime/autograd/operators/operator_list.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/autograd/operators/all.hpp>
#include <distrun/runtime/autograd/operators/overload_of.hpp>
#include <distrun/runtime/tensor/core/shape.hpp>

namespace distrun::autograd {
namespace {

using detail::overload;
using Int = std::int64_t;

const Value kOne = Int{1};
const Value kNone = std::monostate();

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

using TT = Tensor (*)(const Tensor&, const Tensor&);
using TS = Tensor (*)(const Tensor&, const Scalar&);
using TTS = Tensor (*)(const Tensor&, const Tensor&, const Scalar&);
using TSS = Tensor (*)(const Tensor&, const Scalar&, const Scalar&);

void add_arithmetic(OperatorList& list) {
  list["add"] = {overload(TTS(&distrun::add), {kOne}), overload(TSS(&distrun::add), {kOne}), overload(&add_numbers)};
  list["sub"] = {overload(TTS(&distrun::sub), {kOne}), overload(TSS(&distrun::sub), {kOne})};
  list["rsub"] = {overload(&distrun::rsub)};
  list["mul"] = {overload(TT(&distrun::mul)), overload(TS(&distrun::mul))};
  list["div"] = {overload(TT(&distrun::div)), overload(TS(&distrun::div))};
  list["add_"] = {overload(TTS(&distrun::add_), {kOne}), overload(TSS(&distrun::add_), {kOne})};
  list["sub_"] = {overload(TTS(&distrun::sub_), {kOne}), overload(TSS(&distrun::sub_), {kOne})};
  list["mul_"] = {overload(TT(&distrun::mul_)), overload(TS(&distrun::mul_))};
  list["div_"] = {overload(TT(&distrun::div_)), overload(TS(&distrun::div_))};
  list["fill_"] = {overload(&distrun::fill_)};
  list["zero_"] = {overload(&distrun::zero_)};
}

void add_elementwise(OperatorList& list) {
  list["neg"] = {overload(&distrun::neg)};
  list["cos"] = {overload(&distrun::cos)};
  list["sin"] = {overload(&distrun::sin)};
  list["sigmoid"] = {overload(&distrun::sigmoid)};
  list["relu"] = {overload(&distrun::relu)};
  list["clamp_min"] = {overload(&distrun::clamp_min)};
  list["eq"] = {overload(TT(&distrun::eq)), overload(TS(&distrun::eq))};
  list["ne"] = {overload(TT(&distrun::ne)), overload(TS(&distrun::ne))};
  list["lt"] = {overload(TT(&distrun::lt)), overload(TS(&distrun::lt))};
  list["le"] = {overload(TT(&distrun::le)), overload(TS(&distrun::le))};
  list["gt"] = {overload(TT(&distrun::gt)), overload(TS(&distrun::gt))};
  list["ge"] = {overload(TT(&distrun::ge)), overload(TS(&distrun::ge))};
}

// The table differs from C++: a bound that is left out is clamp_min() or clamp_max().
Tensor clamp_of(Tensor a, Scalar least, Scalar largest) { return distrun::clamp(a, least, largest); }
Tensor clamp_of_(Tensor a, Scalar least, Scalar largest) { return distrun::clamp_(a, least, largest); }

void add_functions(OperatorList& list) {
  list["exp"] = {overload(&distrun::exp)};
  list["log"] = {overload(&distrun::log)};
  list["tanh"] = {overload(&distrun::tanh)};
  list["sqrt"] = {overload(&distrun::sqrt)};
  list["rsqrt"] = {overload(&distrun::rsqrt)};
  list["reciprocal"] = {overload(&distrun::reciprocal)};
  list["abs"] = {overload(&distrun::abs)};
  list["square"] = {overload(&distrun::square)};
  using ST = Tensor (*)(const Scalar&, const Tensor&);
  list["pow"] = {overload(TT(&distrun::pow)), overload(TS(&distrun::pow)), overload(ST(&distrun::pow))};
  list["clamp_max"] = {overload(&distrun::clamp_max)};
  list["clamp"] = {overload(&clamp_of)};
  list["maximum"] = {overload(&distrun::maximum)};
  list["minimum"] = {overload(&distrun::minimum)};
  using TTT = Tensor (*)(const Tensor&, const Tensor&, const Tensor&);
  using TST = Tensor (*)(const Tensor&, const Scalar&, const Tensor&);
  list["where"] = {overload(TTT(&distrun::where)), overload(TTS(&distrun::where)), overload(TST(&distrun::where)),
                   overload(TSS(&distrun::where))};
  list["dropout"] = {overload(&distrun::dropout, {Value(0.5), Value(true)})};
  list["logical_not"] = {overload(&distrun::logical_not)};
  list["logical_and"] = {overload(&distrun::logical_and)};
  list["logical_or"] = {overload(&distrun::logical_or)};
  list["logical_xor"] = {overload(&distrun::logical_xor)};
  list["isnan"] = {overload(&distrun::isnan)};
  list["isinf"] = {overload(&distrun::isinf)};
  list["isfinite"] = {overload(&distrun::isfinite)};
}

void add_functions_in_place(OperatorList& list) {
  list["neg_"] = {overload(&distrun::neg_)};
  list["exp_"] = {overload(&distrun::exp_)};
  list["tanh_"] = {overload(&distrun::tanh_)};
  list["sigmoid_"] = {overload(&distrun::sigmoid_)};
  list["sqrt_"] = {overload(&distrun::sqrt_)};
  list["abs_"] = {overload(&distrun::abs_)};
  list["relu_"] = {overload(&distrun::relu_)};
  list["clamp_min_"] = {overload(&distrun::clamp_min_)};
  list["clamp_max_"] = {overload(&distrun::clamp_max_)};
  list["clamp_"] = {overload(&clamp_of_)};
  list["pow_"] = {overload(TT(&distrun::pow_)), overload(TS(&distrun::pow_))};
}

void add_products(OperatorList& list) {
  list["mm"] = {overload(&distrun::mm)};
  list["bmm"] = {overload(&distrun::bmm)};
  list["matmul"] = {overload(&distrun::matmul)};
  list["multi_dot"] = {overload(&distrun::multi_dot)};
  list["linear"] = {overload(&linear_of, {kNone})};
  const Value none_around = IntList{0}, each = IntList{1};
  list["conv2d"] = {overload(&conv2d_of, {kNone, each, none_around})};
  list["max_pool2d"] = {overload(&max_pool2d_of, {Value(IntList{}), none_around})};
  list["softmax"] = {overload(&distrun::softmax)};
  list["log_softmax"] = {overload(&distrun::log_softmax)};
  list["layer_norm"] = {overload(&layer_norm_of, {kNone, kNone, Value(1e-5)})};
  list["batch_norm"] = {overload(&batch_norm_of, {kNone, kNone, Value(1e-5)})};
  list["embedding_bag"] = {overload(&embedding_bag_of, {Value(std::string("mean")), Value(false), kNone})};
}

// Reductions of all elements, of some dimensions, along one; most can keep the reduced dimensions.
using Whole = Tensor (*)(const Tensor&);
using OverDims = Tensor (*)(const Tensor&, const Dims&, bool);
using Along = Tensor (*)(const Tensor&, Int, bool);
const Value kNo = false;

void add_reductions(OperatorList& list) {
  list["sum"] = {overload(Whole(&distrun::sum)), overload(OverDims(&distrun::sum), {kNo}),
                 overload(Along(&distrun::sum<Int>), {kNo})};
  list["mean"] = {overload(Whole(&distrun::mean)), overload(OverDims(&distrun::mean), {kNo}),
                  overload(Along(&distrun::mean<Int>), {kNo})};
  list["prod"] = {overload(Whole(&distrun::prod)), overload(&distrun::prod_along, {kNo})};
  list["cumsum"] = {overload(&distrun::cumsum)};
  const Value ignored = Int{-100}, mean = std::string("mean");
  list["nll_loss"] = {overload(&nll_loss_of, {kNone, ignored, mean})};
  list["cross_entropy"] = {overload(&cross_entropy_of, {kNone, ignored, mean, Value(0.0)})};
  list["mse_loss"] = {overload(&distrun::mse_loss)};
  list["all"] = {overload(Whole(&distrun::all)), overload(&distrun::all_along, {kNo})};
  list["any"] = {overload(Whole(&distrun::any)), overload(&distrun::any_along, {kNo})};
  list["equal"] = {overload(&distrun::equal)};
  list["nonzero"] = {overload(&tensor::nonzero)};
  list["item"] = {overload(&item_of)};
}

void add_extremes(OperatorList& list) {
  const Value all_dims = IntList{};
  list["max"] = {overload(Whole(&distrun::max)), overload(&max_along_of, {kNo})};
  list["min"] = {overload(Whole(&distrun::min)), overload(&min_along_of, {kNo})};
  list["amax"] = {overload(OverDims(&distrun::amax), {all_dims, kNo}), overload(Along(&distrun::amax<Int>), {kNo})};
  list["amin"] = {overload(OverDims(&distrun::amin), {all_dims, kNo}), overload(Along(&distrun::amin<Int>), {kNo})};
  list["argmax"] = {overload(Whole(&distrun::argmax)), overload(Along(&distrun::argmax), {kNo})};
  list["argmin"] = {overload(Whole(&distrun::argmin)), overload(Along(&distrun::argmin), {kNo})};
}

void add_statistics(OperatorList& list) {
  const Value yes = true, two = Int{2};
  using OfAll = Tensor (*)(const Tensor&, bool);
  using OfDims = Tensor (*)(const Tensor&, const Dims&, bool, bool);
  using OfDim = Tensor (*)(const Tensor&, Int, bool, bool);
  list["var"] = {overload(OfAll(&distrun::var<bool>), {yes}), overload(OfDims(&distrun::var), {yes, kNo}),
                 overload(OfDim(&distrun::var<Int>), {yes, kNo})};
  list["std"] = {overload(OfAll(&distrun::standard_deviation<bool>), {yes}),
                 overload(OfDims(&distrun::standard_deviation), {yes, kNo}),
                 overload(OfDim(&distrun::standard_deviation<Int>), {yes, kNo})};
  list["norm"] = {overload(&norm_of_all, {two}), overload(&norm_of_dims, {kNo}), overload(&norm_of_dim, {kNo})};
}

void add_indexing(OperatorList& list) {
  list["gather"] = {overload(&distrun::gather)};
  list["scatter_add"] = {overload(&distrun::scatter_add)};
  list["scatter_add_"] = {overload(&distrun::scatter_add_)};
  list["index_select"] = {overload(&distrun::index_select)};
  list["index_add"] = {overload(&distrun::index_add, {kOne})};
  list["index_add_"] = {overload(&distrun::index_add_, {kOne})};
  list["masked_fill"] = {overload(&distrun::masked_fill)};
  list["masked_select"] = {overload(&distrun::masked_select)};
  list["one_hot"] = {overload(&distrun::one_hot, {Value(Int{-1})})};
}

void add_shapes(OperatorList& list) {
  const Value first = Int{0}, last = Int{-1};
  list["view"] = {overload(&distrun::view)};
  list["reshape"] = {overload(&distrun::reshape)};
  list["flatten"] = {overload(&distrun::flatten, {first, last})};
  list["expand"] = {overload(&distrun::expand)};
  list["transpose"] = {overload(&distrun::transpose)};
  list["t"] = {overload(&distrun::t)};
  list["permute"] = {overload(&distrun::permute)};
  list["unsqueeze"] = {overload(&distrun::unsqueeze)};
  list["squeeze"] = {overload(static_cast<Tensor (*)(const Tensor&)>(&distrun::squeeze)),
                     overload(static_cast<Tensor (*)(const Tensor&, Int)>(&distrun::squeeze))};
  list["narrow"] = {overload(&distrun::narrow)};
  list["select"] = {overload(&distrun::select)};
  using BySize = TensorList (*)(const Tensor&, Int, Int);
  using BySizes = TensorList (*)(const Tensor&, const Dims&, Int);
  list["split"] = {overload(BySize(&distrun::split), {first}), overload(BySizes(&distrun::split), {first})};
  list["cat"] = {overload(&distrun::cat, {first})};
  list["stack"] = {overload(&distrun::stack, {first})};
  list["size"] = {overload(&size_of_dim)};
  list["numel"] = {overload(&numel_of)};
}

void add_makers(OperatorList& list) {
  const Value float32 = std::string("float32");
  list["ones"] = {overload(&ones_of, {float32})};
  list["zeros"] = {overload(&zeros_of, {float32})};
  list["rand"] = {overload(&rand_of, {float32})};
  list["randn"] = {overload(&randn_of, {float32})};
  list["arange"] = {overload(&arange_to), overload(&arange_of, {kOne})};
  list["linspace"] = {overload(&linspace_of, {float32})};
  list["randint"] = {overload(&randint_of), overload(&randint_below)};
  list["randperm"] = {overload(&randperm_of)};
  list["bernoulli"] = {overload(&bernoulli_of)};
  list["ones_like"] = {overload(&tensor::ones_like)};
  list["zeros_like"] = {overload(&tensor::zeros_like)};
  list["clone"] = {overload(&distrun::clone)};
  list["contiguous"] = {overload(&distrun::contiguous)};
  list["copy_"] = {overload(&distrun::copy_, {Value(false)})};
  list["to"] = {overload(&to_device)};
  list["cpu"] = {overload(&distrun::cpu)};
  list["cuda"] = {overload(&distrun::cuda)};
  list["sparse_coo"] = {overload(&distrun::sparse_coo)};
  list["coalesce"] = {overload(&distrun::coalesce)};
  list["to_dense"] = {overload(&distrun::to_dense)};
}

OperatorList make_list() {
  OperatorList list;
  add_arithmetic(list);
  add_elementwise(list);
  add_functions(list);
  add_functions_in_place(list);
  add_products(list);
  add_reductions(list);
  add_extremes(list);
  add_statistics(list);
  add_indexing(list);
  add_shapes(list);
  add_makers(list);
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
