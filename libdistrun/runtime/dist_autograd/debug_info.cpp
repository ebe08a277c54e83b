#include <distrun/runtime/dist_autograd/debug_info.hpp>

#include <distrun/runtime/dist_autograd/contexts.hpp>
#include <distrun/runtime/rpc/session/session_part.hpp>

namespace distrun::dist_autograd {
namespace {

// The session's part for distributed autograd.
class AutogradPart final : public rpc::SessionPart {
 public:
  explicit AutogradPart(std::shared_ptr<Contexts> contexts) : contexts_(std::move(contexts)) {}
  void lose(const rpc::WorkerInfo& peer, const base::Error& why) noexcept override { contexts_->lose(peer, why); }
  void close() noexcept override { contexts_->close(); }
  void add_debug_info(std::map<std::string, std::string>& info) const override {
    const Contexts::Counts counts = contexts_->counts();
    info["num_autograd_contexts"] = std::to_string(counts.contexts);
    info["num_current_backward_passes"] = std::to_string(counts.passes);
  }

 private:
  const std::shared_ptr<Contexts> contexts_;
};

std::shared_ptr<rpc::SessionPart> make_part(const std::shared_ptr<rpc::Calls>& calls, std::uint64_t earlier) {
  auto contexts = std::make_shared<Contexts>(calls, Contexts::first_of(earlier));
  calls->use_autograd(contexts);
  return std::make_shared<AutogradPart>(std::move(contexts));
}

[[maybe_unused]] const bool is_registered = rpc::add_session_part(&make_part);

}  // namespace

std::map<std::string, std::string> debug_info() {
  std::map<std::string, std::string> info;
  AutogradPart(current_contexts({})).add_debug_info(info);
  return info;
}

}  // namespace distrun::dist_autograd
