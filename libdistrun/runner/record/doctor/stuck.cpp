#include <distrun/runner/record/doctor/stuck.hpp>

#include <algorithm>

namespace distrun::runner::doctor {
namespace {

// Spreads "can continue" from thread to party to waiting thread. Each edge is followed once.
class Reduction {
 public:
  explicit Reduction(const Graph& graph)
      : graph_(graph),
        stuck_(graph.threads.size(), true),
        acts_(graph.parties.size()),
        missing_(graph.threads.size()),
        parties_of_(graph.threads.size()),
        waiters_of_(graph.parties.size()) {
    for (std::size_t i = 0; i < graph.parties.size(); ++i) {
      for (const std::size_t thread : graph.parties[i].threads) parties_of_[thread].push_back(i);
    }
    for (std::size_t i = 0; i < graph.threads.size(); ++i) add_waits_of(i);
  }

  std::vector<bool> run() {
    for (std::size_t i = 0; i < graph_.threads.size(); ++i) {
      if (continues_alone(graph_.threads[i])) release(i);
    }
    for (std::size_t i = 0; i < graph_.parties.size(); ++i) {
      if (graph_.parties[i].open) act(i);
    }
    while (!free_.empty()) {
      const std::size_t thread = free_.back();
      free_.pop_back();
      for (const std::size_t party : parties_of_[thread]) act(party);
    }
    return std::move(stuck_);
  }

 private:
  static bool continues_alone(const Thread& thread) {
    if (thread.doing == Doing::Ended) return false;
    return thread.doing != Doing::Waits || !thread.wait || thread.wait->open || !thread.unchanged;
  }

  void add_waits_of(std::size_t thread) {
    const std::optional<Wait>& wait = graph_.threads[thread].wait;
    if (!wait || graph_.threads[thread].doing == Doing::Ended) return;
    missing_[thread] = wait->need == Need::Any ? std::min<std::size_t>(1, wait->parties.size()) : wait->parties.size();
    for (const std::size_t party : wait->parties) waiters_of_[party].push_back(thread);
  }

  void release(std::size_t thread) {
    if (!stuck_[thread]) return;
    stuck_[thread] = false;
    free_.push_back(thread);
  }

  void act(std::size_t party) {
    if (acts_[party]) return;
    acts_[party] = true;
    for (const std::size_t waiter : waiters_of_[party]) {
      if (missing_[waiter] > 0 && --missing_[waiter] == 0) release(waiter);
    }
  }

  const Graph& graph_;
  std::vector<bool> stuck_;
  std::vector<bool> acts_;            // by party: one of its threads can continue
  std::vector<std::size_t> missing_;  // by thread: parties that must still act
  std::vector<Indices> parties_of_;   // by thread
  std::vector<Indices> waiters_of_;   // by party
  Indices free_;                      // threads that can continue, with parties still to be visited
};

const Indices& next_of(const Graph& graph, std::size_t thread) {
  static const Indices kNone;
  const std::optional<Wait>& wait = graph.threads[thread].wait;
  return wait ? wait->next : kNone;
}

// Tarjan's search for strongly connected components, with an explicit stack; keeps those that no edge leaves.
class EndSearch {
 public:
  explicit EndSearch(const Graph& graph)
      : graph_(graph), found_(graph.threads.size()), lowest_(graph.threads.size()), component_(graph.threads.size()) {}

  void visit(std::size_t root) {
    if (found_[root] == 0) open(root);
    while (!calls_.empty()) {
      const std::size_t thread = calls_.back().thread;
      const Indices& next = next_of(graph_, thread);
      if (calls_.back().at < next.size()) {
        const std::size_t other = next[calls_.back().at++];
        if (found_[other] == 0) {
          open(other);
        } else if (component_[other] == 0) {
          lowest_[thread] = std::min(lowest_[thread], found_[other]);
        }
      } else {
        calls_.pop_back();
        leave(thread);
      }
    }
  }

  std::vector<End> take() { return std::move(ends_); }

 private:
  struct Call {
    std::size_t thread;
    std::size_t at;
  };

  void open(std::size_t thread) {
    found_[thread] = lowest_[thread] = ++count_;
    path_.push_back(thread);
    calls_.push_back({thread, 0});
  }

  void leave(std::size_t thread) {
    if (!calls_.empty()) {
      const std::size_t caller = calls_.back().thread;
      lowest_[caller] = std::min(lowest_[caller], lowest_[thread]);
    }
    if (lowest_[thread] == found_[thread]) close(thread);
  }

  void close(std::size_t first) {
    ++components_;
    auto begin = path_.end();
    while (*--begin != first) {
    }
    End members(begin, path_.end());
    path_.erase(begin, path_.end());
    for (const std::size_t member : members) component_[member] = components_;
    const auto stays = [&](std::size_t member) {
      const Indices& next = next_of(graph_, member);
      return std::all_of(next.begin(), next.end(), [&](std::size_t each) { return component_[each] == components_; });
    };
    if (!std::all_of(members.begin(), members.end(), stays)) return;
    std::sort(members.begin(), members.end());
    ends_.push_back(std::move(members));
  }

  const Graph& graph_;
  std::vector<std::size_t> found_;  // order of discovery; 0: not yet
  std::vector<std::size_t> lowest_;
  std::vector<std::size_t> component_;  // 0: none yet
  std::size_t count_ = 0;
  std::size_t components_ = 0;
  Indices path_;
  std::vector<Call> calls_;
  std::vector<End> ends_;
};

}  // namespace

std::vector<bool> stuck_threads(const Graph& graph) { return Reduction(graph).run(); }

std::vector<End> ends_from(const Graph& graph, const Indices& roots) {
  EndSearch search(graph);
  for (const std::size_t root : roots) search.visit(root);
  return search.take();
}

namespace {

// A thread of distrun is worth telling only if another thread waits for it.
void drop_own_threads(const Graph& graph, std::vector<Waiter>& waiters) {
  std::vector<bool> is_awaited(graph.threads.size());
  for (const Waiter& each : waiters) is_awaited[each.next] = true;
  std::erase_if(waiters,
                [&](const Waiter& each) { return graph.threads[each.thread].is_own && !is_awaited[each.thread]; });
}

}  // namespace

std::vector<Waiter> waiters_of(const Graph& graph, const Indices& targets) {
  std::vector<Indices> waiting(graph.threads.size());
  for (std::size_t i = 0; i < graph.threads.size(); ++i) {
    for (const std::size_t next : next_of(graph, i)) waiting[next].push_back(i);
  }
  std::vector<bool> found(graph.threads.size());
  Indices reached = targets;
  for (const std::size_t target : targets) found[target] = true;
  std::vector<Waiter> waiters;
  for (std::size_t at = 0; at < reached.size(); ++at) {
    for (const std::size_t each : waiting[reached[at]]) {
      if (found[each]) continue;
      found[each] = true;
      reached.push_back(each);
      waiters.push_back({each, reached[at]});
    }
  }
  drop_own_threads(graph, waiters);
  return waiters;
}

}  // namespace distrun::runner::doctor
