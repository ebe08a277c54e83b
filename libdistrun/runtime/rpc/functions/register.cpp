#include <distrun/runtime/rpc/functions/register.hpp>

#include <distrun/common/base/error.hpp>

namespace distrun::rpc::detail {

void refuse_argument(const Error& why, const std::string& parameter) {
  throw Error(why.kind(), why.type(),
              "argument '" + parameter + "' " + why.text() + " (incompatible function arguments)");
}

}  // namespace distrun::rpc::detail
