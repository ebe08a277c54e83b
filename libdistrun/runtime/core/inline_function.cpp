#include <distrun/runtime/core/inline_function.hpp>

#include <distrun/common/base/error.hpp>

namespace distrun::core {

const std::string*& inline_function() noexcept {
  constinit thread_local const std::string* name = nullptr;
  return name;
}

std::optional<std::string> inline_refusal(std::string_view doing) {
  const std::string* const name = inline_function();
  if (name == nullptr) return std::nullopt;
  return "the inline function \"" + *name + "\" " + std::string(doing) +
         ": it runs on the thread that reads messages, which must not wait for other ranks; register it as an ordinary "
         "function, with DISTRUN_RPC or without Execution::Inline";
}

void refuse_in_inline_function(const char* doing, base::Location site) {
  if (const auto refusal = inline_refusal(doing)) throw base::Error(base::ErrorKind::Failed, *refusal, site);
}

}  // namespace distrun::core
