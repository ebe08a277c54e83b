#include <distrun/runtime/collectives/reduction.hpp>

#include <string>
#include <type_traits>

#include <distrun/common/base/error.hpp>

namespace distrun::collectives {
namespace {

// Integers are added unsigned, so that they wrap around; small ones are promoted first.
template <class T>
using Wrapping = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;

template <class T>
T sum_of(T a, T b) {
  return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
}

template <class T>
T product_of(T a, T b) {
  if constexpr (sizeof(T) < sizeof(int)) return static_cast<T>(static_cast<unsigned>(a) * static_cast<unsigned>(b));
  return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
}

template <class T, class Function>
void for_each(std::byte* out, const std::byte* a, const std::byte* b, std::size_t count, Function function) {
  T* const to = reinterpret_cast<T*>(out);
  const T* const left = reinterpret_cast<const T*>(a);
  const T* const right = reinterpret_cast<const T*>(b);
  for (std::size_t i = 0; i < count; ++i) to[i] = function(left[i], right[i]);
}

template <class T>
void combine_numbers(ReduceOp op, std::byte* out, const std::byte* a, const std::byte* b, std::size_t count) {
  const auto each = [&](auto function) { for_each<T>(out, a, b, count, function); };
  switch (op) {
    case ReduceOp::Sum:
    case ReduceOp::Avg: return each(sum_of<T>);
    case ReduceOp::Product: return each(product_of<T>);
    case ReduceOp::Min: return each([](T x, T y) { return y < x || y != y ? y : x; });
    case ReduceOp::Max: return each([](T x, T y) { return y > x || y != y ? y : x; });
    default: break;
  }
  if constexpr (std::is_integral_v<T>) {
    switch (op) {
      case ReduceOp::BitAnd: return each([](T x, T y) { return static_cast<T>(x & y); });
      case ReduceOp::BitOr: return each([](T x, T y) { return static_cast<T>(x | y); });
      default: return each([](T x, T y) { return static_cast<T>(x ^ y); });
    }
  }
}

// Returns the equivalent bit operation, since bools are 0 or 1.
ReduceOp of_bools(ReduceOp op) {
  switch (op) {
    case ReduceOp::Sum:
    case ReduceOp::Max: return ReduceOp::BitOr;
    case ReduceOp::Product:
    case ReduceOp::Min: return ReduceOp::BitAnd;
    default: return op;
  }
}

bool is_bitwise(ReduceOp op) { return op >= ReduceOp::BitAnd; }

}  // namespace

const char* name_of(ReduceOp op) noexcept {
  static constexpr const char* kNames[kReduceOps] = {"sum", "product", "min", "max", "avg", "band", "bor", "bxor"};
  const auto index = static_cast<std::size_t>(op);
  return index < kReduceOps ? kNames[index] : "an unknown reduction";
}

void check_reduction(const char* what, ReduceOp op, DType dtype, base::Location where) {
  const char* only = nullptr;
  if (is_bitwise(op) && tensor::is_floating(dtype)) only = "integers and bools";
  if (op == ReduceOp::Avg && !tensor::is_floating(dtype)) only = "floating-point numbers";
  if (only == nullptr) return;
  throw Error(ErrorKind::InvalidArgument, "ValueError",
              std::string(what) + ": cannot use " + name_of(op) + " with " + std::string(name_of(dtype)) +
                  ", only with " + only,
              where);
}

void combine(ReduceOp op, DType dtype, std::byte* out, const std::byte* a, const std::byte* b, std::size_t count) {
  if (dtype == DType::Bool) return combine_numbers<std::uint8_t>(of_bools(op), out, a, b, count);
  tensor::visit(dtype, [&]<class T>(T) {
    if constexpr (!std::is_same_v<T, bool>) combine_numbers<T>(op, out, a, b, count);
  });
}

void finish(ReduceOp op, DType dtype, std::byte* out, std::size_t count, int ranks) {
  if (op != ReduceOp::Avg) return;
  tensor::visit(dtype, [&]<class T>(T) {
    if constexpr (std::is_floating_point_v<T>) {
      T* const numbers = reinterpret_cast<T*>(out);
      for (std::size_t i = 0; i < count; ++i) numbers[i] /= static_cast<T>(ranks);
    }
  });
}

}  // namespace distrun::collectives
