#include <catch2/catch.hpp>

#include <algorithm>

#include <distrun/common/base/rng.hpp>
#include <distrun/runner/record/doctor/stuck.hpp>

using namespace distrun::runner;
using doctor::Doing;
using doctor::Graph;
using doctor::Indices;
using doctor::Need;

namespace {

// Returns a graph of `count` threads that run.
Graph running(std::size_t count) {
  Graph graph;
  graph.has_earlier = true;
  graph.things.emplace_back();
  graph.threads.resize(count);
  for (doctor::Thread& thread : graph.threads) thread.doing = Doing::Runs;
  return graph;
}

// The thread waits for parties of threads and for nothing else.
void make_wait(Graph& graph, std::size_t thread, Need need, const std::vector<Indices>& parties) {
  doctor::Wait wait;
  wait.need = need;
  wait.open = false;
  for (const Indices& threads : parties) {
    wait.parties.push_back(graph.parties.size());
    wait.next.push_back(threads.front());
    graph.parties.push_back({threads, false});
  }
  graph.threads[thread].doing = Doing::Waits;
  graph.threads[thread].unchanged = true;
  graph.threads[thread].wait = std::move(wait);
}

// Applies the definition: repeats until no further thread can continue.
std::vector<bool> naive_stuck(const Graph& graph) {
  std::vector<bool> stuck(graph.threads.size(), true);
  const auto acts = [&](std::size_t party) {
    const doctor::Party& each = graph.parties[party];
    return each.open || std::any_of(each.threads.begin(), each.threads.end(), [&](auto one) { return !stuck[one]; });
  };
  const auto can_continue = [&](const doctor::Thread& thread) {
    if (thread.doing == Doing::Ended) return false;
    if (thread.doing != Doing::Waits || thread.wait->open || !thread.unchanged) return true;
    const Indices& parties = thread.wait->parties;
    if (parties.empty()) return false;
    return thread.wait->need == Need::All ? std::all_of(parties.begin(), parties.end(), acts)
                                          : std::any_of(parties.begin(), parties.end(), acts);
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < graph.threads.size(); ++i) {
      if (!stuck[i] || !can_continue(graph.threads[i])) continue;
      stuck[i] = false;
      changed = true;
    }
  }
  return stuck;
}

Indices random_threads(distrun::base::Rng& rng, std::size_t count) {
  Indices threads(1 + rng.below(3));
  for (std::size_t& each : threads) each = rng.below(count);
  return threads;
}

Graph random_graph(distrun::base::Rng& rng) {
  const std::size_t count = 2 + rng.below(9);
  Graph graph = running(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (rng.below(5) == 0) continue;
    std::vector<Indices> parties(rng.below(4));
    for (Indices& party : parties) party = random_threads(rng, count);
    make_wait(graph, i, rng.below(2) == 0 ? Need::All : Need::Any, parties);
    graph.threads[i].wait->open = rng.below(12) == 0;
    graph.threads[i].unchanged = rng.below(12) != 0;
    if (rng.below(12) == 0) graph.threads[i].doing = Doing::Ended;
  }
  for (doctor::Party& party : graph.parties) party.open = rng.below(15) == 0;
  return graph;
}

// Returns whether `to` can be reached from `from` by expected waits, with at least one step.
bool reaches(const Graph& graph, std::size_t from, std::size_t to) {
  std::vector<bool> seen(graph.threads.size());
  Indices way{from};
  while (!way.empty()) {
    const std::size_t at = way.back();
    way.pop_back();
    if (!graph.threads[at].wait) continue;
    for (const std::size_t next : graph.threads[at].wait->next) {
      if (next == to) return true;
      if (!seen[next]) way.push_back(next);
      seen[next] = true;
    }
  }
  return false;
}

// Applies the definition: every thread that it reaches must also reach it.
bool is_in_end(const Graph& graph, std::size_t thread) {
  for (std::size_t other = 0; other < graph.threads.size(); ++other) {
    if (other != thread && reaches(graph, thread, other) && !reaches(graph, other, thread)) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("the reduction finds the same stuck threads as its definition, in random graphs") {
  distrun::base::Rng rng(GENERATE(1U, 2U, 3U, 4U));
  std::size_t hung = 0;
  for (int round = 0; round < 5000; ++round) {
    const Graph graph = random_graph(rng);
    const std::vector<bool> stuck = doctor::stuck_threads(graph);
    hung += static_cast<std::size_t>(std::count(stuck.begin(), stuck.end(), true));
    if (stuck != naive_stuck(graph)) FAIL("they differ in round " << round);
  }
  CHECK(hung > 1000);
}

TEST_CASE("the ends of waits are the sets of threads that nothing leaves, in random graphs") {
  distrun::base::Rng rng(GENERATE(5U, 6U));
  for (int round = 0; round < 1000; ++round) {
    const Graph graph = random_graph(rng);
    Indices all(graph.threads.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    std::vector<bool> found(all.size());
    for (const doctor::End& end : doctor::ends_from(graph, all)) {
      for (const std::size_t each : end) found[each] = true;
      for (const std::size_t each : end) {
        if (each != end.front() && !reaches(graph, end.front(), each)) FAIL("an end is not connected");
      }
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (found[i] != is_in_end(graph, i)) FAIL("thread " << i << " in round " << round);
    }
  }
}

TEST_CASE("a thread that waits for all parties is stuck if one of them is") {
  Graph graph = running(3);
  make_wait(graph, 0, Need::All, {{1}, {2}});
  make_wait(graph, 2, Need::All, {{0}});
  CHECK(doctor::stuck_threads(graph) == std::vector<bool>{true, false, true});
  graph.threads[0].wait->need = Need::Any;
  CHECK(doctor::stuck_threads(graph) == std::vector<bool>{false, false, false});
}

TEST_CASE("a party acts if any of its threads can") {
  Graph graph = running(3);
  make_wait(graph, 0, Need::All, {{1, 2}});
  make_wait(graph, 1, Need::All, {{0}});
  CHECK(doctor::stuck_threads(graph) == std::vector<bool>{false, false, false});
}

TEST_CASE("a closed wait without parties never ends") {
  Graph graph = running(1);
  make_wait(graph, 0, Need::All, {});
  CHECK(doctor::stuck_threads(graph) == std::vector<bool>{true});
  graph.threads[0].wait->open = true;
  CHECK(doctor::stuck_threads(graph) == std::vector<bool>{false});
}

TEST_CASE("waiters are found from near to far, each with the thread that it waits for") {
  Graph graph = running(4);
  make_wait(graph, 1, Need::All, {{0}});
  make_wait(graph, 2, Need::All, {{1}});
  const std::vector<doctor::Waiter> waiters = doctor::waiters_of(graph, {0});
  REQUIRE(waiters.size() == 2);
  CHECK(waiters[0].thread == 1);
  CHECK(waiters[1].thread == 2);
  CHECK(waiters[1].next == 1);
}

TEST_CASE("a chain of a hundred thousand waits needs no deep recursion") {
  Graph graph = running(100'000);
  for (std::size_t i = 0; i + 1 < graph.threads.size(); ++i) make_wait(graph, i, Need::All, {{i + 1}});
  const auto ends = doctor::ends_from(graph, {0});
  REQUIRE(ends.size() == 1);
  CHECK(ends.front() == Indices{99'999});
  CHECK_FALSE(doctor::stuck_threads(graph)[0]);
}

TEST_CASE("a thread of distrun is no waiter unless another thread waits for it") {
  Graph graph = running(4);
  make_wait(graph, 1, Need::All, {{0}});
  make_wait(graph, 2, Need::All, {{0}});
  make_wait(graph, 3, Need::All, {{2}});
  graph.threads[1].is_own = graph.threads[2].is_own = true;
  Indices found;
  for (const doctor::Waiter& each : doctor::waiters_of(graph, {0})) found.push_back(each.thread);
  CHECK(found == Indices{2, 3});
}
