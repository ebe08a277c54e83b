#include <distrun/rpc.hpp>

#include "rpc_callees.hpp"

namespace distrun::suites {
namespace {

// Its constructor takes more than a text, so a receiver of the text alone cannot create one.
class CustomException : public Error {
 public:
  CustomException(bool flag, const std::string& message)
      : Error(ErrorKind::Failed, "CustomException", message + (flag ? " (true)" : " (false)")) {}
};

}  // namespace

void raise_func() { throw Error(ErrorKind::InvalidArgument, "ValueError", "Expected error"); }
DISTRUN_RPC(raise_func)

void raise_func_escape() {
  throw Error(ErrorKind::InvalidArgument, "ValueError",
              "\nFirst line of error \n next line of error \n last line of error");
}
DISTRUN_RPC(raise_func_escape)

void custom_raise_func() { throw CustomException(true, "foo"); }
DISTRUN_RPC(custom_raise_func)

}  // namespace distrun::suites
