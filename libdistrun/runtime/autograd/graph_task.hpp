#pragma once
// One pass over a graph. Nodes become ready when all their gradients have come, and run in the reverse order of their
// making. Nodes of the CPU run on the threads that drive the pass: the one that called backward(), or with drive()
// whoever has brought gradients. Nodes of a GPU run on that device's worker (device_worker.hpp), on the stream that
// their forward ran on; a gradient that crosses streams is waited for by an event, and no thread waits for a device.
//
// A pass is prepared by one thread: roots, captures, holds. From start() on any thread may use it. A hold stands for
// gradients that somebody will feed() to a node from outside (messages of other ranks); the pass is not done before.
//
// The first error ends it: what is ready is dropped, what runs is waited for, and gradients that have reached leaves
// stay. Everything is usable afterwards. Where nothing but CPU nodes takes part and nobody feeds, one thread does it
// all without a lock.
#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/autograd/device_worker.hpp>
#include <distrun/runtime/autograd/leaf_sink.hpp>
#include <distrun/runtime/autograd/node.hpp>
#include <distrun/runtime/autograd/pass_table.hpp>
#include <distrun/runtime/core/call_stack.hpp>
#include <distrun/runtime/core/thread_state.hpp>

namespace distrun::autograd {

struct PassOptions {
  bool retain_graph = false;
  LeafSink* leaves = nullptr;  // null: into grad() of each. Must outlive the pass.
  // Of a pass that nobody run()s: called by a device's worker that has made a node of the CPU ready, so that somebody
  // comes to drive(). Must not throw.
  std::function<void()> on_ready = {};
  void* owner = nullptr;      // for whoever has made the pass, and meets it again in a node
  bool create_graph = false;  // nodes are run with recording on, so that gradients have a graph of their own
};

class GraphTask final : public WorkGiver {
 public:
  // Nodes run under the calling thread's state, with recording on or off as the options say.
  explicit GraphTask(PassOptions options);

  // ---- before start()

  // `gradient` is that of the root's tensor, and fits it.
  void add_root(Edge root, Tensor gradient);
  // The pass ends there: only nodes on the way to captured edges run, and leaves get nothing. Returns its number.
  std::size_t capture(const Edge& edge);
  // Counts what can be reached from a node that will be fed, and waits for `holds` feedings of it; it runs once, with
  // the sum of what they bring. The node is kept.
  void expect(Ref<Node> node, std::uint32_t holds = 1);
  // Of the nodes that were counted since this was last asked: those that lead nowhere, and are no leaves.
  std::vector<Node*> new_ends();
  // Called once, on the thread that does the last bit of work or brings the error. Must not throw.
  void on_done(std::function<void()> callback) { on_done_ = std::move(callback); }

  // ---- from here on any thread

  void start();
  // The gradients of a node that is expected, one for each input; uses up a hold. Ignored after an error of the pass.
  // They come from somebody else: what does not fit is returned as Error{InvalidArgument}, and the pass is as it was.
  [[nodiscard]] std::optional<Error> feed(Node& node, Gradients gradients);
  // Runs what is ready for this thread, and returns when nothing is.
  void drive();
  // Drives until the pass is done, lets the caller's current streams wait for the leaves', and throws the first error,
  // which is then the caller's alone: error() has none any more. Without an error it calls what at_end() was given, in
  // that order, and throws what they throw.
  void run();
  // For hooks and nodes: what is to be done when all gradients are there, by run(), on the thread that called it.
  // Throws Error{Unimplemented} in a pass that nobody run()s.
  void at_end(std::function<void()> callback);
  // Of the node that the calling thread is in; null: it is in none.
  static GraphTask* current() noexcept;
  void* owner() const noexcept { return options_.owner; }
  void fail(std::exception_ptr error);
  bool is_done() const noexcept { return is_done_.load(std::memory_order_acquire); }
  std::exception_ptr error() const {
    const auto guard = lock();
    return error_;
  }

  // ---- once it is done

  // By number; undefined: nothing came.
  Tensor captured(std::size_t number) const { return captures_[number].gradient; }
  void wait_for_leaves() const;

  void run_on_worker(EntryIndex entry) override;

 private:
  struct Root {
    Edge edge;
    Tensor gradient;
  };
  struct Capture {
    Edge edge;
    Tensor gradient;
  };
  struct Ready {
    std::uint64_t sequence;
    EntryIndex entry;
    friend bool operator<(const Ready& a, const Ready& b) noexcept { return a.sequence < b.sequence; }
  };

  std::unique_lock<std::mutex> lock() const {
    return is_shared_ ? std::unique_lock(mutex_) : std::unique_lock(mutex_, std::defer_lock);
  }
  std::exception_ptr take_error();
  void drive_to_end();
  void call_at_end();
  void run_entry(EntryIndex entry);
  void evaluate(PassEntry& entry);
  Gradients call(Node& node, Gradients gradients);
  void deliver(const Node& node, Gradients results);
  // Result `result` of the node, which may wait for others; of a root there is no node. True: it was the last one that
  // the entry needs, and the caller is to make it ready.
  bool add_gradient(EntryIndex entry, std::uint32_t input, Tensor gradient, const Node* maker = nullptr,
                    std::size_t result = 0);
  // With the lock held, if shared.
  void add_to_sum(PassEntry& entry, std::uint32_t input, Tensor gradient);
  void make_ready(EntryIndex entry);
  void push(Device device, std::vector<DeviceWorker::Work> works);
  void make_ready_at_once(const InlineVector<EntryIndex, 2>& entries);
  EntryIndex next_ready();
  void finish_one();
  void finish();
  void take_captures(const PassEntry& entry, const Gradients& gradients);
  void wait_for_work(DeviceWorker* worker);
  void wake_driver();

  // Constant after start().
  const PassOptions options_;
  core::ThreadState state_;
  std::vector<Root> roots_;
  std::vector<Ref<Node>> expected_;
  std::function<void()> on_done_;
  EntryIndex looked_at_ = 0;   // by new_ends()
  bool is_shared_ = false;     // other threads take part: what follows is locked
  std::uint32_t nesting_ = 0;  // passes around this one
  // Who has called start(), if shared.
  const core::CallStack* beginner_ = nullptr;

  mutable std::mutex mutex_;  // guards what follows, if shared
  std::condition_variable changed_;
  PassTable table_;
  std::vector<Capture> captures_;
  std::vector<Ready> ready_;  // a heap
  std::set<device::Stream> leaf_streams_;
  std::vector<std::function<void()>> at_end_;
  std::uint32_t holds_ = 0;
  std::uint64_t outstanding_ = 0;  // ready, running or held
  DeviceWorker* driving_worker_ = nullptr;
  std::exception_ptr error_;

  std::atomic<bool> has_failed_{false};
  std::atomic<bool> is_done_{false};
};

}  // namespace distrun::autograd
