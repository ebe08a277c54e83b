#pragma once
// The RPC call for whose message device memory is copied: the runtime puts such copies on streams where no line of the
// user's is, and reports of races are to name the call.
#include <string>
#include <string_view>

#include <distrun/runtime/core/call_site.hpp>

namespace distrun::rpc {

// For a scope, which all that it names outlives: what the thread asks of devices is for that message. `site` is where
// the call was made; line 0: it is not known here.
class MessageStep {
 public:
  // "the answer of RPC call "f" by worker1"; `what`: "the answer of", `whose`: "by".
  MessageStep(std::string_view what, std::string_view call, std::string_view whose, std::string_view worker,
              base::Location site = {}) noexcept
      : what_(what), call_(call), whose_(whose), worker_(worker), step_(site, this, text_of) {}

 private:
  static std::string text_of(const void* step) {
    const auto& of = *static_cast<const MessageStep*>(step);
    return std::string(of.what_) + " RPC call \"" + std::string(of.call_) + "\" " + std::string(of.whose_) + " " +
           std::string(of.worker_);
  }

  const std::string_view what_, call_, whose_, worker_;
  const core::StepFor step_;
};

}  // namespace distrun::rpc
