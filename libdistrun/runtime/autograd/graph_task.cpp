#include <distrun/runtime/autograd/graph_task.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/thread.hpp>
#include <distrun/runtime/autograd/accumulate_grad.hpp>
#include <distrun/runtime/autograd/anomaly.hpp>
#include <distrun/runtime/autograd/grad_mode.hpp>
#include <distrun/runtime/autograd/gradient_fit.hpp>
#include <distrun/runtime/autograd/gradient_streams.hpp>
#include <distrun/runtime/autograd/node_hooks.hpp>
#include <distrun/runtime/autograd/pass_errors.hpp>
#include <distrun/runtime/autograd/pass_guards.hpp>

namespace distrun::autograd {
namespace {

constexpr std::uint32_t kNestingOfThread = 50;  // nested passes that share a stack
constexpr std::uint32_t kNestingMost = 5000;
constexpr std::uint32_t kNestingOfWorkerMost = 200;

void refuse_deep(std::uint32_t nesting, std::uint32_t most) {
  if (nesting <= most) return;
  throw Error(ErrorKind::Overloaded,
              "backward passes within nodes of others are nested more than " + std::to_string(most) + " deep");
}

// Requires the lock of a shared pass.
void add_to_sum(PassEntry& entry, std::uint32_t input, Tensor gradient) {
  if (entry.gradients.empty()) entry.gradients.resize(entry.node->inputs().size());
  Tensor& sum = entry.gradients[input];
  if (!sum.defined()) {
    sum = std::move(gradient);
  } else if (gradient.defined()) {
    std::optional<device::StreamGuard> on_stream;
    if (entry.node->is_on_gpu()) on_stream.emplace(entry.node->stream());
    sum = sum_of(std::move(sum), std::move(gradient));
  }
}

// Runs the node with its hooks.
Gradients call(Node& node, Gradients gradients, LeafSink* leaves) {
  const NodeScope scope(node, gradients);
  const NodeHooks* hooks = node.hooks();
  Gradients got;
  const bool has_post_hooks = hooks != nullptr && hooks->has_post_hooks();
  for (std::size_t i = 0; has_post_hooks && i < gradients.size(); ++i) got.push_back(gradients[i]);
  Gradients results;
  if (node.is_leaf()) {
    bring_to_leaf(static_cast<AccumulateGrad&>(node), std::move(gradients), leaves);
  } else {
    results = node.apply(std::move(gradients));
  }
  if (has_post_hooks) results = hooks->after(std::move(results), got);
  return results;
}

}  // namespace

GraphTask::GraphTask(PassOptions options) : options_(std::move(options)), state_(core::thread_state()) {
  state_.grad_enabled = options_.create_graph;
  nesting_ = NestingGuard::of_thread();
}

void GraphTask::add_root(Edge root, Tensor gradient) {
  table_.count_from(root.node.get());
  roots_.push_back({std::move(root), std::move(gradient)});
}

void GraphTask::expect(Ref<Node> node, std::uint32_t holds) {
  table_.count_from(node.get());
  PassEntry& entry = table_[table_.find(node.get())];
  entry.dependencies += holds;
  entry.holds += holds;
  expected_.push_back(std::move(node));
  holds_ += holds;
  outstanding_ += holds;
  is_shared_ = true;
}

std::vector<Node*> GraphTask::new_ends() {
  std::vector<Node*> ends;
  for (; looked_at_ < table_.size(); ++looked_at_) {
    Node* const node = table_[looked_at_].node;
    if (!node->is_leaf() && node->next_edges().empty()) ends.push_back(node);
  }
  return ends;
}

void GraphTask::start() {
  const GradModeGuard mode(options_.create_graph);
  results_.mark_captured(table_);
  if (results_.has_captures()) table_.need_captured_only();
  for (const Root& root : roots_) ++table_[table_.find(root.edge.node.get())].dependencies;
  for (EntryIndex i = 0; i < table_.size() && !is_shared_; ++i) is_shared_ = table_[i].node->is_on_gpu();
  if (is_shared_) beginner_ = core::call_stack();
  if (is_shared_ && table_.is_spread()) table_.await_in_order();
  ++outstanding_;  // counts the start itself: workers may finish a root before the next is added
  InlineVector<EntryIndex, 2> ready;
  try {
    for (Root& root : roots_) {
      const EntryIndex entry = table_.find(root.edge.node.get());
      if (add_gradient(entry, root.edge.input, std::move(root.gradient))) ready.push_back(entry);
    }
  } catch (...) {
    fail(std::current_exception());
  }
  make_ready_at_once(ready);
  finish_one();
}

std::optional<Error> GraphTask::feed(Node& node, Gradients gradients) {
  const EntryIndex index = table_.find(&node);
  if (index == PassTable::kNone) return refusal(node, "is not expected by this pass");
  PassEntry& entry = table_[index];
  if (std::string why = why_unfit(node, gradients); !why.empty()) return refusal(node, why);
  if (node.is_on_gpu()) {
    for (const Tensor& gradient : gradients) {
      if (gradient.defined()) order_streams(gradient, node.stream());
    }
  }
  {
    const auto guard = lock();
    if (has_failed_) return std::nullopt;  // the held gradients were dropped
    if (entry.holds == 0) return refusal(node, "was fed as often as this pass expects");
    --entry.holds;
    --holds_;
    for (std::uint32_t i = 0; i < gradients.size(); ++i) add_to_sum(entry, i, std::move(gradients[i]));
    // The last gradient makes the node ready: it stays outstanding.
    if (--entry.dependencies > 0) {
      --outstanding_;
      return std::nullopt;
    }
  }
  make_ready(index);
  return std::nullopt;
}

bool GraphTask::add_gradient(EntryIndex index, std::uint32_t input, Tensor gradient, const Node* maker,
                             std::size_t result) {
  PassEntry& entry = table_[index];
  if (entry.node->is_on_gpu() && gradient.defined()) order_streams(gradient, entry.node->stream());
  const auto guard = lock();
  if (maker == nullptr || entry.awaited.empty()) {
    add_to_sum(entry, input, std::move(gradient));
  } else {
    entry.bring(*maker, result, std::move(gradient));
    while (Awaited* const next = entry.next_to_add()) add_to_sum(entry, next->input, std::move(next->gradient));
  }
  if (--entry.dependencies > 0) return false;
  ++outstanding_;
  return true;
}

void GraphTask::push(Device device, std::vector<DeviceWorker::Work> works) {
  std::size_t count = works.size();
  try {
    device_worker(device, state_.rank).push(std::move(works));
  } catch (...) {  // no such worker: these nodes fail
    fail(std::current_exception());
    for (; count > 0; --count) finish_one();
  }
}

void GraphTask::make_ready(EntryIndex index) {
  Node& node = *table_[index].node;
  if (node.is_on_gpu()) {
    push(node.inputs()[0].device, {{Ref<GraphTask>(this), node.sequence(), nesting_, index}});
    return;
  }
  {
    const auto guard = lock();
    ready_.push_back({node.sequence(), index});
    std::push_heap(ready_.begin(), ready_.end());
  }
  if (is_shared_) driver_.wake(mutex_);
  if (options_.on_ready && current_device_worker() != nullptr) options_.on_ready();
}

// No node of a worker begins before the worker has all of these: the order in which they run, and so the last bits of
// sums, must not depend on the worker's speed.
void GraphTask::make_ready_at_once(const InlineVector<EntryIndex, 2>& entries) {
  if (entries.size() == 1) return make_ready(entries[0]);
  std::map<Device, std::vector<DeviceWorker::Work>> of_workers;
  for (const EntryIndex index : entries) {
    const Node& node = *table_[index].node;
    if (node.is_on_gpu()) {
      of_workers[node.inputs()[0].device].push_back({Ref<GraphTask>(this), node.sequence(), nesting_, index});
    } else {
      make_ready(index);
    }
  }
  for (auto& [device, works] : of_workers) push(device, std::move(works));
}

EntryIndex GraphTask::next_ready() {
  const auto guard = lock();
  if (ready_.empty()) return PassTable::kNone;
  std::pop_heap(ready_.begin(), ready_.end());
  const EntryIndex entry = ready_.back().entry;
  ready_.pop_back();
  return entry;
}

void GraphTask::run_entry(EntryIndex index) {
  if (!has_failed_.load(std::memory_order_acquire)) {
    try {
      evaluate(table_[index]);
    } catch (const Error& error) {
      fail(std::make_exception_ptr(state_.anomaly_checked ? with_forward(error, *table_[index].node) : error));
    } catch (...) {
      fail(std::current_exception());
    }
  }
  finish_one();
}

void GraphTask::run_on_worker(EntryIndex entry) {
  const core::ThreadStateGuard state(state_);
  const TaskGuard task(*this);
  const NestingGuard nesting(nesting_ + 1);
  run_entry(entry);
}

void GraphTask::evaluate(PassEntry& entry) {
  Node& node = *entry.node;
  std::optional<StepGuard> step;
  if (is_shared_) step.emplace(node, beginner_);
  std::optional<device::StreamGuard> on_stream;
  if (node.is_on_gpu()) on_stream.emplace(node.stream());
  Gradients gradients = std::move(entry.gradients);
  if (node.is_leaf() && !static_cast<AccumulateGrad&>(node).is_wanted()) gradients[0] = Tensor();
  if (const NodeHooks* hooks = node.hooks()) gradients = hooks->before(std::move(gradients));
  if (entry.is_captured || node.is_leaf()) {
    const auto guard = lock();
    if (entry.is_captured) results_.take(entry, gradients);
    if (entry.is_needed && node.is_leaf()) results_.note_leaf(node);
  }
  if (!entry.is_needed) return;
  Gradients results = call(node, std::move(gradients), options_.leaves);
  if (!options_.retain_graph) node.release_saved();
  deliver(node, std::move(results));
}

void GraphTask::deliver(const Node& node, Gradients results) {
  const Edges& edges = node.next_edges();
  if (results.size() != edges.size()) {
    throw Error(ErrorKind::InvalidArgument,
                "Function " + node.name() + " returned an incorrect number of gradients (expected " +
                    std::to_string(edges.size()) + ", got " + std::to_string(results.size()) + ")");
  }
  if (state_.anomaly_checked) check_for_nan(node, results);
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (!edges[i]) continue;
    const EntryIndex next = table_.find(edges[i].node.get());
    const PassEntry& entry = table_[next];
    if (!entry.is_needed && !entry.is_captured) continue;
    if (results[i].defined()) fit(results[i], entry.node->inputs()[edges[i].input], node, i);
    if (add_gradient(next, edges[i].input, std::move(results[i]), &node, i)) make_ready(next);
  }
}

void GraphTask::finish_one() {
  {
    const auto guard = lock();
    if (--outstanding_ > 0) return;
  }
  finish();
}

void GraphTask::finish() {
  if (is_done_.exchange(true, std::memory_order_acq_rel)) return;
  if (on_done_) on_done_();
  if (is_shared_) driver_.wake(mutex_);
}

void GraphTask::fail(std::exception_ptr error) {
  bool is_over = false;
  {
    const auto guard = lock();
    if (error_) return;
    error_ = std::move(error);
    has_failed_.store(true, std::memory_order_release);
    is_over = holds_ > 0 && outstanding_ == holds_;
    outstanding_ -= holds_;
    holds_ = 0;
  }
  if (is_over) finish();
}

void GraphTask::drive() {
  const core::ThreadStateGuard state(state_);
  const TaskGuard task(*this);
  const NestingGuard nesting(nesting_ + 1);
  for (EntryIndex entry = next_ready(); entry != PassTable::kNone; entry = next_ready()) run_entry(entry);
}

void GraphTask::run() {
  // A worker's thread must not wait for another thread, which may need the worker.
  const bool on_worker = current_device_worker() != nullptr;
  refuse_deep(nesting_, on_worker ? kNestingOfWorkerMost : kNestingMost);
  if (!on_worker && nesting_ > 0 && nesting_ % kNestingOfThread == 0) {
    base::Thread("autograd nested", [this] { drive_to_end(); }).join();
  } else {
    drive_to_end();
  }
  wait_for_leaves();
  {
    const auto guard = lock();
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }
  if (at_end_.empty()) return;
  const core::ThreadStateGuard state(state_);
  for (const auto& callback : std::exchange(at_end_, {})) callback();
}

GraphTask* GraphTask::current() noexcept { return TaskGuard::of_thread(); }

void GraphTask::at_end(std::function<void()> callback) {
  if (options_.on_ready) {
    throw Error(ErrorKind::Unimplemented,
                "at_end_of_pass: a pass of distributed autograd ends on no thread that could call it; do it after "
                "dist_autograd's backward() has returned");
  }
  const auto guard = lock();
  at_end_.push_back(std::move(callback));
}

void GraphTask::drive_to_end() {
  driver_.begin();
  start();
  drive();
  while (!is_done()) {
    driver_.wait(mutex_, [this] { return is_done() || !ready_.empty(); });
    drive();
  }
}

}  // namespace distrun::autograd
