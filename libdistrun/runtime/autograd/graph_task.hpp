#pragma once
// One pass over a graph. Nodes become ready when all their gradients have arrived, and run in the reverse order of
// their creation. Nodes of the CPU run on the threads that drive the pass: the one that called backward(), or those
// that fed gradients and call drive(). Nodes of a GPU run on that device's worker (device_worker.hpp), on the stream of
// their forward call. A gradient that crosses streams is ordered by an event; no thread waits for a device.
//
// One thread prepares a pass: roots, captures, holds. After start() it is thread-safe. A hold stands for gradients that
// another component will feed() to a node (messages of other ranks); the pass is not done before.
//
// The first error ends it: ready nodes are dropped, running ones are awaited, and gradients that have reached leaves
// stay. Everything is usable afterwards. If only CPU nodes take part and nothing is fed, one thread does it all without
// a lock.
#include <atomic>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/autograd/device_worker.hpp>
#include <distrun/runtime/autograd/leaf_sink.hpp>
#include <distrun/runtime/autograd/node.hpp>
#include <distrun/runtime/autograd/pass_driver.hpp>
#include <distrun/runtime/autograd/pass_results.hpp>
#include <distrun/runtime/autograd/pass_table.hpp>
#include <distrun/runtime/core/call_stack.hpp>
#include <distrun/runtime/core/thread_state.hpp>

namespace distrun::autograd {

struct PassOptions {
  bool retain_graph = false;
  LeafSink* leaves = nullptr;  // null: into grad() of each leaf. Must outlive the pass.
  // Called by a device's worker that has made a node of the CPU ready, in a pass that is not run by run(), so that a
  // thread calls drive(). Must not throw.
  std::function<void()> on_ready = {};
  void* owner = nullptr;      // lets the pass's creator find its object from within a node
  bool create_graph = false;  // run nodes with recording on, so that gradients have a graph
};

class GraphTask final : public WorkGiver {
 public:
  // Nodes run under the calling thread's state, with recording on or off as in the options.
  explicit GraphTask(PassOptions options);

  // ---- before start()

  // `gradient` is the gradient of the root's tensor, and fits it.
  void add_root(Edge root, Tensor gradient);
  // Captures the gradient of an edge. The pass ends there: only nodes that lead to captured edges run, and leaves get
  // nothing. Returns the capture's number.
  std::size_t capture(const Edge& edge) { return results_.capture(edge); }
  // Counts the nodes reachable from a node that will be fed, and makes it wait for `holds` feeds; it runs once, with
  // the sum of their gradients. Keeps the node alive.
  void expect(Ref<Node> node, std::uint32_t holds = 1);
  // Returns the nodes counted since the last call that have no edges and are not leaves.
  std::vector<Node*> new_ends();
  // Sets a callback, called once on the thread that does the last piece of work or reports the error. Must not throw.
  void on_done(std::function<void()> callback) { on_done_ = std::move(callback); }

  // ---- thread-safe from here on

  void start();
  // Brings the gradients of an expected node, one for each input; uses up a hold. Ignored after an error of the pass.
  // The gradients come from outside: if they don't fit, returns Error{InvalidArgument} and leaves the pass as it was.
  [[nodiscard]] std::optional<Error> feed(Node& node, Gradients gradients);
  // Runs the nodes that are ready for this thread, and returns when no more are ready.
  void drive();
  // Drives until the pass is done, and makes the caller's current streams wait for the leaves'. Throws the first error
  // and clears error(). Otherwise it calls the callbacks of at_end() in their order, and throws what they throw.
  void run();
  // Used by hooks and nodes: run() calls `callback` when all gradients are available, on the thread that called run().
  // Throws Error{Unimplemented} in a pass without run().
  void at_end(std::function<void()> callback);
  // Returns the pass of the node that the calling thread runs, or null.
  static GraphTask* current() noexcept;
  void* owner() const noexcept { return options_.owner; }
  void fail(std::exception_ptr error);
  bool is_done() const noexcept { return is_done_.load(std::memory_order_acquire); }
  std::exception_ptr error() const {
    const auto guard = lock();
    return error_;
  }

  // ---- once it is done

  // Returns a captured gradient by its number; undefined if none arrived.
  Tensor captured(std::size_t number) const { return results_.captured(number); }
  void wait_for_leaves() { results_.wait(table_, options_.leaves == nullptr); }

  void run_on_worker(EntryIndex entry) override;

 private:
  struct Root {
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
  void drive_to_end();
  void run_entry(EntryIndex entry);
  void evaluate(PassEntry& entry);
  void deliver(const Node& node, Gradients results);
  // Adds result `result` of the node, or a root's gradient if there is no node; it may have to wait for others. Returns
  // true if it was the last one that the entry needs: the caller must make the entry ready.
  bool add_gradient(EntryIndex entry, std::uint32_t input, Tensor gradient, const Node* maker = nullptr,
                    std::size_t result = 0);
  void make_ready(EntryIndex entry);
  void push(Device device, std::vector<DeviceWorker::Work> works);
  void make_ready_at_once(const InlineVector<EntryIndex, 2>& entries);
  EntryIndex next_ready();
  void finish_one();
  void finish();

  // Constant after start().
  const PassOptions options_;
  core::ThreadState state_;
  std::vector<Root> roots_;
  std::vector<Ref<Node>> expected_;
  std::function<void()> on_done_;
  EntryIndex looked_at_ = 0;   // position of new_ends()
  bool is_shared_ = false;     // other threads take part: the members below are locked
  std::uint32_t nesting_ = 0;  // number of enclosing passes
  // Where start() was called, if shared.
  const core::CallStack* beginner_ = nullptr;

  PassDriver driver_;

  mutable std::mutex mutex_;  // guards the members below, if shared
  PassTable table_;
  PassResults results_;
  std::vector<Ready> ready_;  // a heap
  std::vector<std::function<void()>> at_end_;
  std::uint32_t holds_ = 0;
  std::uint64_t outstanding_ = 0;  // ready, running or held
  std::exception_ptr error_;

  std::atomic<bool> has_failed_{false};
  std::atomic<bool> is_done_{false};
};

}  // namespace distrun::autograd
