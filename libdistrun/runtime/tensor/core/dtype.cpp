#include <distrun/runtime/tensor/core/dtype.hpp>

#include <algorithm>
#include <array>
#include <ostream>
#include <string>

#include <distrun/common/base/error.hpp>

namespace distrun::tensor {
namespace {

struct Row {
  std::string_view name;
  std::string_view others[3];  // aliases
};

constexpr std::array<Row, kDTypeCount> kRows{{
    {"bool", {}},
    {"uint8", {"u8", "byte"}},
    {"int8", {"i8", "char"}},
    {"int16", {"i16", "short"}},
    {"int32", {"i32", "int"}},
    {"int64", {"i64", "long"}},
    {"float32", {"f32", "float"}},
    {"float64", {"f64", "double"}},
}};

const Row& row_of(DType dtype) noexcept { return kRows[static_cast<std::size_t>(dtype)]; }

bool is_called(const Row& row, std::string_view name) noexcept {
  if (row.name == name) return true;
  for (const std::string_view other : row.others) {
    if (!other.empty() && other == name) return true;
  }
  return false;
}

}  // namespace

std::string_view name_of(DType dtype) noexcept { return row_of(dtype).name; }

DType parse_dtype(std::string_view name) {
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (is_called(kRows[i], name)) return static_cast<DType>(i);
  }
  std::string known;
  for (const Row& row : kRows) known += (known.empty() ? "" : ", ") + std::string(row.name);
  throw Error(ErrorKind::InvalidArgument, "there is no dtype `" + std::string(name) + "`; there are " + known);
}

DType promote(DType a, DType b) noexcept {
  const bool mixed_bytes = (a == DType::U8 && b == DType::I8) || (a == DType::I8 && b == DType::U8);
  return mixed_bytes ? DType::I16 : std::max(a, b);  // the enum is in promotion order
}

std::ostream& operator<<(std::ostream& out, DType dtype) { return out << name_of(dtype); }

}  // namespace distrun::tensor
