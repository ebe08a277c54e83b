#include <distrun/runtime/dist_autograd/pass.hpp>

#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/core/rank_state.hpp>
#include <distrun/runtime/core/thread_state.hpp>
#include <distrun/runtime/dist_autograd/quick_graph.hpp>
#include <distrun/runtime/future/handler_pool.hpp>
#include <distrun/runtime/rpc/calls/error_codec.hpp>
#include <distrun/runtime/rpc/calls/task.hpp>
#include <distrun/runtime/rpc/values/convert.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>

namespace distrun::dist_autograd {
namespace {

using rpc::Value;

constexpr base::Nanoseconds kNoLimit{0};  // a silent worker is lost, or the pass is aborted

future::Future<Value> make_done() {
  future::FutureInfo info{base::Location()};
  info.kind = board::WaitKind::Backward;
  info.name = "a backward pass over workers";
  if (const auto calls = rpc::find_calls()) info.progress = calls->agent().progress();
  return future::Future<Value>::of(std::move(info));
}

Ref<autograd::GraphTask> make_task(const PassSettings& settings, Context& context, Pass* owner) {
  // Calls made by nodes belong to no context.
  core::ThreadState state = core::thread_state();
  state.autograd_context = rpc::kNoContext;
  const core::ThreadStateGuard guard(std::move(state));
  autograd::PassOptions options;
  options.retain_graph = settings.retain_graph;
  options.leaves = &context.gradients();
  options.owner = owner;
  options.on_ready = [owner] { owner->drive_soon(); };
  return tensor::make_ref<autograd::GraphTask>(std::move(options));
}

[[noreturn]] void refuse(const std::string& text) { throw Error(ErrorKind::Failed, "RuntimeError", text); }

}  // namespace

std::shared_ptr<Pass> Pass::make(std::shared_ptr<Contexts> contexts, std::shared_ptr<Context> context, PassId id,
                                 PassSettings settings) {
  auto pass = std::make_shared<Pass>(std::move(contexts), std::move(context), id, settings);
  pass->self_ = pass;
  return pass;
}

Pass::Pass(std::shared_ptr<Contexts> contexts, std::shared_ptr<Context> context, PassId id, PassSettings settings)
    : contexts_(std::move(contexts)),
      context_(std::move(context)),
      id_(id),
      settings_(settings),
      rank_(core::rank_state()),
      task_(make_task(settings, *context_, this)),
      done_(make_done()) {
  task_->on_done([this] { end_task(); });
  context_->begin_pass();
}

Pass* Pass::current() noexcept {
  autograd::GraphTask* const task = autograd::GraphTask::current();
  return task == nullptr ? nullptr : static_cast<Pass*>(task->owner());
}

// ---- running

void Pass::add_root(autograd::Edge edge, Tensor gradient) {
  roots_.push_back(edge.node);
  task_->add_root(std::move(edge), std::move(gradient));
}

void Pass::begin() {
  {
    const std::lock_guard lock(mutex_);
    if (is_started_) return;  // it has failed
    is_started_ = true;
    look_if_quick({});
  }
  task_->start();
  drive();
}

void Pass::start() {
  is_started_ = true;
  task_->start();
}

void Pass::drive() {
  task_->drive();
  if (!is_over_.load()) show_waiting();
}

void Pass::drive_soon() noexcept {
  std::shared_ptr<Pass> self;
  {
    const std::lock_guard lock(mutex_);
    self = self_;
  }
  if (self != nullptr) future::handler_pool_of(rank_).post(rpc::task_of([self] { self->drive(); }));
}

bool Pass::look_if_quick(const std::vector<MessageId>& messages) {
  if (is_quick_) return *is_quick_;
  std::vector<Ref<Node>> starts = settings_.mode == Mode::Fast ? context_->sent() : context_->sent(messages);
  starts.insert(starts.end(), roots_.begin(), roots_.end());
  for (const auto& [message, node] : expected_) starts.push_back(node);
  is_quick_ = is_quick_graph(starts);
  return *is_quick_;
}

bool Pass::is_quick(const std::vector<MessageId>& messages) {
  const std::lock_guard lock(mutex_);
  return look_if_quick(messages);
}

void Pass::feed(MessageId message, std::vector<Tensor> gradients) {
  Ref<SendNode> node;
  {
    const std::lock_guard lock(mutex_);
    look_if_quick({});
    const auto found = expected_.find(message);
    if (found == expected_.end()) {
      if (has_failed_) return;
      refuse("gradients arrived for the autograd message " + std::to_string(message) +
             ", which is not part of the backward pass, or has already received them");
    }
    node = std::move(found->second);
    expected_.erase(found);
    if (!is_started_) start();
  }
  Gradients fed;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    // In FAST an unused result gets zeros.
    if (!gradients[i].defined() && settings_.mode == Mode::Fast && i < node->inputs().size()) {
      const autograd::InputMetadata& like = node->inputs()[i];
      gradients[i] = tensor::zeros(like.sizes, {like.dtype, like.device});
    }
    fed.push_back(std::move(gradients[i]));
  }
  if (const auto error = task_->feed(*node, std::move(fed))) {
    fail(*error);
    throw *error;
  }
  drive();
}

rpc::ValueList Pass::head() const {
  return {rpc::to_value(context_->context_id()), rpc::to_value(id_), rpc::to_value(settings_.retain_graph),
          rpc::to_value(settings_.mode == Mode::Fast)};
}

// Handles an answer to a sent call.
class Pass::Answered final : public future::Continuation {
 public:
  Answered(std::shared_ptr<Pass> pass, WorkerId from) : pass_(std::move(pass)), from_(from) {}
  void run(const std::shared_ptr<future::FutureState>& done) noexcept override {
    pass_->end_sent(from_, done->error());
  }
  void abandon(future::FutureState&, const std::exception_ptr& why) noexcept override { pass_->end_sent(from_, why); }
  bool is_quick() const noexcept override { return true; }

 private:
  const std::shared_ptr<Pass> pass_;
  const WorkerId from_;
};

void Pass::send(const RecvNode& node, Gradients gradients) {
  const auto calls = contexts_->calls();
  if (calls == nullptr) refuse("RPC was shut down here");
  rpc::List by_place;
  by_place.items.resize(node.count);
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (gradients[i].defined()) by_place.items[node.places[i]] = Value(std::move(gradients[i]));
  }
  rpc::CallRequest request{rpc::Destination(int{node.from}, {}).within(kNoLimit), rpc::target_of(kFeed), {head(), {}}};
  auto& arguments = request.arguments.positional;
  arguments.push_back(rpc::to_value(node.message));
  const auto told = told_.find(node.from);
  arguments.push_back(told == told_.end() ? Value() : rpc::to_value(told->second));
  arguments.push_back(Value(std::move(by_place)));
  request.devices = node.devices;
  sent_.fetch_add(1);
  has_sent_ = true;
  try {
    const auto answer = calls->sender().call(std::move(request));
    answer.state()->attach(std::make_unique<Answered>(shared_from_this(), node.from));
  } catch (...) {
    sent_.fetch_sub(1);
    throw;
  }
}

// ---- its end

void Pass::end_sent(WorkerId to, const std::exception_ptr& error) noexcept {
  if (error != nullptr) {
    const Error why = rpc::error_of(error);
    keep_error(why.kind() == ErrorKind::Disconnected ? why : on_node(to, why), false);
  }
  sent_.fetch_sub(1);
  end_if_over();
}

void Pass::end_task() noexcept {
  if (const std::exception_ptr error = task_->error()) keep_error(rpc::error_of(error), true);
  is_task_done_ = true;
  end_if_over();
}

void Pass::fail(const Error& error) noexcept {
  keep_error(error, false);
  end_if_over();
}

// Ends a part that has not been started.
void Pass::keep_error(const Error& error, bool is_own) noexcept {
  bool is_begun = false;
  {
    const std::lock_guard lock(mutex_);
    if (error_) return;
    error_ = error;
    is_own_error_ = is_own;
    has_failed_ = true;
    is_begun = std::exchange(is_started_, true);
  }
  if (!is_begun) {
    is_task_done_ = true;
  } else if (!is_own) {
    task_->fail(std::make_exception_ptr(error));
  }
}

void Pass::end_if_over() noexcept {
  if (!is_task_done_ || (sent_.load() > 0 && !has_failed_)) return;
  std::shared_ptr<Pass> self;
  std::optional<Error> error;
  bool is_own = false;
  {
    const std::lock_guard lock(mutex_);
    if (is_over_.exchange(true)) return;
    self = std::move(self_);
    error = error_;
    is_own = is_own_error_;
    expected_.clear();
  }
  hide_waiting();
  context_->end_pass();
  std::optional<Error> told = error;
  if (is_own) told = on_node(contexts_->self(), *error);
  contexts_->end_pass(id_, told);
  if (!error) return done_.set_result(Value());
  tell_failure(*told);
  done_.set_error(Contexts::giver_of(id_) == contexts_->self() && has_sent_
                      ? *told
                      : *error);  // the caller adds the worker's name itself
  done_.state()->mark_seen();     // the caller gets the error with the answer
}

void Pass::tell_failure(const Error& error) noexcept {
  const auto calls = contexts_->calls();
  if (calls == nullptr) return;
  for (const WorkerId each : context_->known_worker_ids()) {
    if (each == contexts_->self()) continue;
    try {
      rpc::CallRequest request{rpc::Destination(int{each}, {}), rpc::target_of(kAbort), {head(), {}}};
      auto& arguments = request.arguments.positional;
      arguments.push_back(rpc::to_value(static_cast<int>(error.kind())));
      arguments.push_back(rpc::to_value(error.type()));
      arguments.push_back(rpc::to_value(error.text()));
      arguments.push_back(rpc::to_value(error.because_of()));
      calls->sender().call(std::move(request)).state()->mark_seen();
    } catch (const std::exception&) {  // the worker has left, and its parts with it
    }
  }
}

// ---- observation

std::string Pass::missing() const {
  const std::lock_guard lock(mutex_);
  if (expected_.empty()) return sent_.load() > 0 ? "the answers of other workers" : "";
  const SendNode& first = *expected_.begin()->second;
  std::string text = "gradients from worker " + std::to_string(first.to) + " of " + first.what;
  if (expected_.size() > 1) text += ", and of " + std::to_string(expected_.size() - 1) + " more";
  return text;
}

void Pass::show_waiting() noexcept {
  core::RankLine* const line = rank_.line();
  if (line == nullptr) return;
  const std::string name = missing();
  const std::lock_guard lock(mutex_);
  if (is_over_ || name.empty()) return;
  if (shown_ >= 0) line->end_wait(shown_);
  board::WaitInfo info;
  info.kind = board::WaitKind::Backward;
  info.name = name;
  for (const auto& [message, node] : expected_) info.peers.add(node->to);
  shown_ = line->begin_wait(info, core::kForever);
}

void Pass::hide_waiting() noexcept {
  const std::lock_guard lock(mutex_);
  if (shown_ >= 0) rank_.line()->end_wait(std::exchange(shown_, -1));
}

}  // namespace distrun::dist_autograd
