#include "data_parallel.hpp"

#include <distrun/common/base/error.hpp>

namespace distrun::suites {
namespace {

[[noreturn]] void refuse(const std::string& text) { throw Error(ErrorKind::Failed, "AssertionError", text); }

}  // namespace

void verify_error_logged(const LoggingData& logged, std::string_view expected) {
  for (const char* key : {"iteration", "has_error", "error"}) {
    if (!logged.contains(key)) refuse("ddp logging data has no " + std::string(key));
  }
  const std::string text(expected.substr(0, expected.find("\nException raised from ")));
  const std::string& error = logged.at("error");
  if (error.find(text) == std::string::npos) {
    refuse("Did not find expected " + text + " in ddp logging data error: " + error);
  }
}

}  // namespace distrun::suites
