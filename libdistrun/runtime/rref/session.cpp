// The references of a session: created with it, and deleted in its shutdown.
#include <utility>

#include <distrun/common/base/deadline.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/ledger/text.hpp>
#include <distrun/runtime/core/wait.hpp>
#include <distrun/runtime/rpc/session/session.hpp>
#include <distrun/runtime/rpc/session/session_part.hpp>
#include <distrun/runtime/rref/methods.hpp>
#include <distrun/runtime/rref/references.hpp>
#include <distrun/runtime/rref/rref.hpp>

namespace distrun::rref {
namespace {

using namespace std::chrono_literals;

constexpr base::Nanoseconds kSettleLimit = 100s;  // of a shutdown without a timeout
constexpr base::Nanoseconds kAskLimit = 1s;
constexpr std::size_t kLeaksTold = 16;
constexpr std::size_t kPageRows = 1024;

std::string join(const std::vector<std::string>& lines) {
  std::string text;
  for (std::size_t i = 0; i < lines.size() && i < kLeaksTold; ++i) text += (i == 0 ? "" : "\n") + lines[i];
  if (lines.size() > kLeaksTold) text += "\n... and " + std::to_string(lines.size() - kLeaksTold) + " more";
  return text;
}

// Returns false if the deadline has passed.
template <class Ready>
bool wait_until(const char* what, base::TimePoint deadline, base::Location site, Ready ready) {
  board::WaitInfo info;
  info.kind = board::WaitKind::RrefConfirmation;
  info.name = what;
  info.site = site;
  return core::poll_until(info, deadline, 5ms, ready);
}

// Returns the pages of all workers that answer.
std::vector<ledger::Page> pages_of_all(const References& references, base::Location site) {
  std::vector<ledger::Page> pages{references.page(kPageRows)};
  for (const WorkerInfo& each : rpc::get_worker_infos()) {
    if (each.id() == references.self().id()) continue;
    try {
      const auto bytes = rpc::rpc_sync<std::string>(rpc::Destination(each, site).within(kAskLimit), kPage);
      pages.push_back(wire::decode<ledger::Page>(wire::view_of(bytes.data(), bytes.size())));
    } catch (const Error&) {  // the worker has left, or hangs
    }
  }
  return pages;
}

class ReferencePart final : public rpc::SessionPart {
 public:
  explicit ReferencePart(std::shared_ptr<References> references) : references_(std::move(references)) {}

  // Waits for forks in flight, then deletes all references that are held here, then waits until the other workers,
  // which do the same, hold no values of this one.
  void settle(base::TimePoint deadline, base::Location site) override {
    const base::TimePoint until = std::min(deadline, base::system_clock().now() + kSettleLimit);
    wait_until("the confirmation of references", until, site, [this] {
      const References::Counts counts = references_->counts();
      return counts.is_settled() && counts.creations == 0;
    });
    references_->delete_users();
    wait_until("other workers to release its references", until, site, [this] {
      const References::Counts counts = references_->counts();
      return counts.owned == 0 && counts.unacknowledged == 0;
    });
  }
  void look() override { leaks_ = references_->leaks(); }
  void close() noexcept override { references_->close(); }
  void check() override {
    if (leaks_.empty()) return;
    throw Error(ErrorKind::Failed, "RuntimeError",
                join(leaks_) +
                    "\nDetected RRef Leaks during shutdown: workers still hold references to values of this one, "
                    "although all should have deleted theirs. A worker that holds one may hang, or may have left "
                    "without a graceful shutdown; set ShutdownOptions::ignore_leaks to ignore this.");
  }
  void add_debug_info(std::map<std::string, std::string>& info) const override {
    const References::Counts counts = references_->counts();
    info["num_owner_rrefs"] = std::to_string(counts.owned);
    info["num_forks"] = std::to_string(counts.forks);
    info["num_pending_users"] = std::to_string(counts.pending_users);
    info["num_pending_futures"] = std::to_string(counts.unacknowledged + counts.creations);
  }

 private:
  const std::shared_ptr<References> references_;
  std::vector<std::string> leaks_;
};

std::shared_ptr<rpc::SessionPart> make_part(const std::shared_ptr<rpc::Calls>& calls, std::uint64_t earlier) {
  const auto first_id = static_cast<std::int64_t>(earlier % kEarlierMax) * kIdsOfWorker;
  auto references = std::make_shared<References>(calls, calls->rank(), first_id);
  calls->use_references(references);
  return std::make_shared<ReferencePart>(std::move(references));
}

[[maybe_unused]] const bool is_registered = rpc::add_session_part(&make_part);

}  // namespace

const HandlePtr& detail::require(const HandlePtr& handle, base::Location site) {
  if (handle != nullptr) return handle;
  throw Error(ErrorKind::InvalidArgument, "this RRef is empty", site);
}

std::string leaks(double within, base::Location site) {
  const std::shared_ptr<References> references = current_references();
  const base::TimePoint deadline = base::deadline_after(base::nanoseconds_of(within));
  const auto is_free = [&] { return references->counts().owned == 0; };
  if (wait_until("other workers to release its references", deadline, site, is_free)) return "";
  return join(references->leaks()) + "\n" + ledger::cycles_text(pages_of_all(*references, site));
}

std::map<std::string, std::string> debug_info() {
  std::map<std::string, std::string> info;
  ReferencePart(current_references()).add_debug_info(info);
  return info;
}

}  // namespace distrun::rref
