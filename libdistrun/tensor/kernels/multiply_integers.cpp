// Products of integer matrices: nobody waits for these, so plain loops will do. They wrap.
#include <distrun/tensor/kernels/table.hpp>

namespace distrun::tensor::kernels {
namespace {

template <class T>
void multiply(const Product& p) {
  const T* a = static_cast<const T*>(p.a);
  const T* b = static_cast<const T*>(p.b);
  T* c = static_cast<T*>(p.c);
  for (std::int64_t row = 0; row < p.rows; ++row) {
    for (std::int64_t column = 0; column < p.columns; ++column) {
      std::uint64_t sum = p.accumulate ? static_cast<std::uint64_t>(c[row * p.c_row + column]) : 0;
      for (std::int64_t i = 0; i < p.inner; ++i) {
        sum += static_cast<std::uint64_t>(a[row * p.a_row + i * p.a_column]) *
               static_cast<std::uint64_t>(b[i * p.b_row + column * p.b_column]);
      }
      c[row * p.c_row + column] = static_cast<T>(sum);
    }
  }
}

}  // namespace

extern const Multiply multiply_integers[kDTypeCount];
constexpr Multiply multiply_integers[kDTypeCount] = {nullptr,
                                                     &multiply<std::uint8_t>,
                                                     &multiply<std::int8_t>,
                                                     &multiply<std::int16_t>,
                                                     &multiply<std::int32_t>,
                                                     &multiply<std::int64_t>,
                                                     nullptr,
                                                     nullptr};

}  // namespace distrun::tensor::kernels
