#pragma once
// Names the RPC call that device memory is copied for. Such copies run on streams without a line of user code, and race
// reports should name the call.
#include <string>
#include <string_view>

#include <distrun/runtime/core/call_site.hpp>

namespace distrun::rpc {

// Attributes, within a scope, the thread's device work to that message. All arguments must outlive the scope. `site`:
// where the call was made; line 0: unknown.
class MessageStep {
 public:
  // Shown as "the answer of RPC call "f" by worker1"; `what`: "the answer of", `whose`: "by".
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
