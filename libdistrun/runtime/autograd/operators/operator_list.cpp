#include <distrun/runtime/autograd/operators/operator_list.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/autograd/operators/all.hpp>
#include <distrun/runtime/autograd/operators/overload_of.hpp>

namespace distrun::autograd {
namespace {

using detail::overload;
using Int = std::int64_t;

const Value kOne = Int{1};
const Value kNone = std::monostate();

// For operators that have no such form in C++.
Scalar add_numbers(Scalar a, Scalar b) {
  if (a.is_floating() || b.is_floating()) return a.to<double>() + b.to<double>();
  return static_cast<Int>(static_cast<std::uint64_t>(a.to<Int>()) + static_cast<std::uint64_t>(b.to<Int>()));
}
Tensor linear_of(Tensor x, Tensor weight, detail::TensorOrNone bias) { return distrun::linear(x, weight, bias); }
Scalar item_of(Tensor tensor) { return tensor.item(); }
Int size_of_dim(Tensor tensor, Int dim) { return tensor.size(dim); }
Int numel_of(Tensor tensor) { return tensor.numel(); }
Tensor ones_of(Dims sizes, std::string dtype) { return tensor::ones(sizes, {tensor::parse_dtype(dtype), {}}); }
Tensor zeros_of(Dims sizes, std::string dtype) { return tensor::zeros(sizes, {tensor::parse_dtype(dtype), {}}); }
Tensor to_device(Tensor tensor, std::string device) { return distrun::to(tensor, device::parse_device(device)); }

using Pair = std::array<Int, 2>;
Pair pair_of(const char* op, const char* what, const Dims& dims) {
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
  const Pair no_stride{0, 0};
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
  list["batch_norm"] = {overload(&batch_norm_of, {kNone, kNone, Value(1e-5)})};
  list["embedding_bag"] = {overload(&embedding_bag_of, {Value(std::string("mean")), Value(false), kNone})};
}

void add_reductions(OperatorList& list) {
  list["sum"] = {overload(static_cast<Tensor (*)(const Tensor&)>(&distrun::sum)),
                 overload(static_cast<Tensor (*)(const Tensor&, const Dims&, bool)>(&distrun::sum), {Value(false)})};
  list["mean"] = {overload(&distrun::mean)};
  list["mse_loss"] = {overload(&distrun::mse_loss)};
  list["all"] = {overload(&distrun::all)};
  list["equal"] = {overload(&distrun::equal)};
  list["nonzero"] = {overload(&tensor::nonzero)};
  list["item"] = {overload(&item_of)};
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
  list["squeeze"] = {overload(&distrun::squeeze)};
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
  add_products(list);
  add_reductions(list);
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
