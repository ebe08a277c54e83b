#include <distrun/runtime/tensor/core/called_operator.hpp>

#include <distrun/common/base/error.hpp>

namespace distrun::tensor {

std::string with_name(const char* op, const std::string& text) {
  const char* const name = CalledOperator::name() != nullptr ? CalledOperator::name() : op;
  return name == nullptr ? text : std::string(name) + ": " + text;
}

void refuse(const std::string& text) { throw Error(ErrorKind::InvalidArgument, with_name(nullptr, text)); }

}  // namespace distrun::tensor
