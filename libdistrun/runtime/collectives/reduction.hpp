#pragma once
// Reduces the elements of several ranks. Sums and products of integers wrap around; for bools a sum is "or" and a
// product "and"; min and max of a NaN are NaN.
#include <cstddef>
#include <cstdint>

#include <distrun/common/base/location.hpp>
#include <distrun/runtime/tensor/core/dtype.hpp>

namespace distrun::collectives {

// How the elements of the ranks are combined. The bit operations are for integers and bools, Avg for floating-point
// numbers.
enum class ReduceOp : std::uint8_t { Sum, Product, Min, Max, Avg, BitAnd, BitOr, BitXor };
inline constexpr int kReduceOps = 8;        // enumerators of ReduceOp
const char* name_of(ReduceOp op) noexcept;  // "sum", "band"

// Throws Error{InvalidArgument} for bit operations on floating-point numbers, and for an average of other types:
// "all_reduce: cannot use band with float32, only with integers and bools".
void check_reduction(const char* what, ReduceOp op, DType dtype, base::Location where);

// Sets out[i] = a[i] op b[i]; `out` may be `a` or `b`. Of Avg it is the sum.
void combine(ReduceOp op, DType dtype, std::byte* out, const std::byte* a, const std::byte* b, std::size_t count);
// Divides by the number of ranks if `op` is Avg.
void finish(ReduceOp op, DType dtype, std::byte* out, std::size_t count, int ranks);

}  // namespace distrun::collectives

namespace distrun {
using collectives::ReduceOp;
}  // namespace distrun
