#include <distrun/runtime/dist_autograd/contexts.hpp>

#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/core/thread_state.hpp>
#include <distrun/runtime/dist_autograd/protocol.hpp>

namespace distrun::dist_autograd {
namespace {

constexpr int kCountBits = 36;               // per worker
constexpr std::uint64_t kEarlierMax = 4096;  // then the count restarts: contexts of such early workers are gone

}  // namespace

std::int64_t Contexts::first_of(std::uint64_t earlier) noexcept {
  return static_cast<std::int64_t>(earlier % kEarlierMax) << kCountBits;
}

bool Contexts::is_given_by(std::int64_t id, WorkerKey worker) noexcept {
  if (giver_of(id) != worker.id) return false;
  return worker.incarnation == 0 || (id & kCountMost) >> kCountBits == first_of(worker.incarnation - 1) >> kCountBits;
}

Contexts::Contexts(const std::shared_ptr<rpc::Calls>& calls, std::int64_t first)
    : calls_(calls),
      self_(calls->self().id()),
      base_(std::int64_t{self_} << kWorkerBits),
      next_message_(first),
      next_pass_(first),
      next_context_(first) {}

Contexts::~Contexts() = default;

std::shared_ptr<Context> Contexts::make() {
  const std::lock_guard lock(mutex_);
  if (next_context_ >= kCountMost) {
    throw Error(ErrorKind::Overloaded,
                "this worker has used all ids of autograd contexts: " + std::to_string(kCountMost));
  }
  const ContextId id = base_ | next_context_++;
  auto context = std::make_shared<Context>(id);
  contexts_.emplace(id, context);
  return context;
}

std::shared_ptr<Context> Contexts::find(ContextId id) const {
  const std::lock_guard lock(mutex_);
  const auto found = contexts_.find(id);
  return found == contexts_.end() ? nullptr : found->second;
}

std::shared_ptr<Context> Contexts::get(ContextId id, base::Location site) const {
  if (auto context = find(id)) return context;
  throw Error(ErrorKind::Failed, "RuntimeError", "Could not find autograd context with id: " + std::to_string(id),
              site);
}

std::shared_ptr<Context> Contexts::find_or_add(ContextId id) {
  const std::lock_guard lock(mutex_);
  const auto found = contexts_.find(id);
  if (found != contexts_.end()) return found->second;
  if (is_closed_ || released_.contains(id)) return nullptr;
  return contexts_.emplace(id, std::make_shared<Context>(id)).first->second;
}

bool Contexts::release(ContextId id, WorkerId told_by) noexcept {
  std::shared_ptr<Context> gone;
  {
    const std::lock_guard lock(mutex_);
    released_.add(id);
    const auto found = contexts_.find(id);
    if (found == contexts_.end()) return false;
    gone = std::move(found->second);
    contexts_.erase(found);
  }
  const auto calls = this->calls();
  if (calls == nullptr) return true;
  for (const WorkerId each : gone->known_worker_ids()) {
    if (each != told_by && each != self_) tell_released(*calls, each, id);
  }
  return true;
}

PassPartPtr Contexts::find_pass(PassId id) const {
  const std::lock_guard lock(mutex_);
  const auto found = passes_.find(id);
  return found == passes_.end() ? nullptr : found->second;
}

PassPartPtr Contexts::find_or_add_pass(PassId id, const std::function<PassPartPtr()>& make_pass) {
  const std::lock_guard lock(mutex_);
  const auto found = passes_.find(id);
  if (found != passes_.end()) return found->second;
  if (const auto failure = failures_.find(id); failure != failures_.end()) throw failure->second;
  if (is_closed_ || over_.contains(id))
    throw Error(ErrorKind::Failed, "RuntimeError", "the backward pass has ended on this worker");
  return passes_.emplace(id, make_pass()).first->second;
}

void Contexts::end_pass(PassId id, const std::optional<Error>& why) noexcept {
  PassPartPtr gone;
  const std::lock_guard lock(mutex_);
  if (const auto forgotten = over_.add(id)) failures_.erase(*forgotten);
  if (why) failures_.insert_or_assign(id, *why);
  const auto found = passes_.find(id);
  if (found == passes_.end()) return;
  gone = std::move(found->second);
  passes_.erase(found);
}

std::vector<PassPartPtr> Contexts::passes_with(WorkerKey peer) const {
  std::vector<PassPartPtr> passes;
  const std::lock_guard lock(mutex_);
  for (const auto& [id, pass] : passes_) {
    if (pass->context().knows(peer)) passes.push_back(pass);
  }
  return passes;
}

void Contexts::lose(const WorkerInfo& peer, const Error& why) noexcept {
  Error error(ErrorKind::Disconnected, "RuntimeError",
              "a backward pass cannot finish: " + peer.name() + " is gone: " + why.text());
  error.with_cause(why.because_of());
  for (const auto& pass : passes_with(peer.key())) pass->fail(error);
  std::vector<std::shared_ptr<Context>> gone;
  const std::lock_guard lock(mutex_);
  for (auto each = contexts_.begin(); each != contexts_.end();) {
    if (!is_given_by(each->first, peer.key())) {
      ++each;
      continue;
    }
    released_.add(each->first);
    gone.push_back(std::move(each->second));
    each = contexts_.erase(each);
  }
}

void Contexts::close() noexcept {
  std::unordered_map<ContextId, std::shared_ptr<Context>> contexts;
  std::unordered_map<PassId, PassPartPtr> passes;
  {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    contexts.swap(contexts_);
    passes = passes_;
  }
  for (const auto& [id, pass] : passes) {
    pass->fail(Error(ErrorKind::Disconnected, "RuntimeError",
                     "a backward pass cannot finish: RPC was shut down on this worker"));
  }
}

Contexts::Counts Contexts::counts() const {
  const std::lock_guard lock(mutex_);
  return {contexts_.size(), passes_.size()};
}

std::shared_ptr<Contexts> find_contexts() noexcept {
  const auto calls = rpc::find_calls();
  return calls == nullptr ? nullptr : std::dynamic_pointer_cast<Contexts>(calls->autograd());
}

std::shared_ptr<Contexts> current_contexts(base::Location site) {
  rpc::refuse_forked(site);
  if (auto contexts = find_contexts()) return contexts;
  throw Error(ErrorKind::Failed, "RuntimeError",
              "RPC has not been initialized. Call init_rpc first; autograd contexts belong to its session", site);
}

}  // namespace distrun::dist_autograd
