#include <catch2/catch.hpp>

#include <algorithm>
#include <numeric>
#include <set>

#include <distrun/common/base/rng.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/runner/evidence/stacks/tree_text.hpp>

#include "samples.hpp"

using namespace distrun;
using namespace distrun::evidence;
using base::Rng;

namespace {

wire::StackFrame random_frame(Rng& rng) {
  const int number = static_cast<int>(rng.below(6));
  switch (rng.below(4)) {
    case 0: return samples::library("call_" + std::to_string(number));
    case 1: return samples::machinery("distrun::rank::step_" + std::to_string(number));
    default: return samples::user("ring::f" + std::to_string(number) + "()", "ring.cpp", 10);
  }
}

// Returns stacks with much in common, from few functions and depths.
Stacks random_stacks(std::uint64_t seed) {
  Rng rng(seed);
  Stacks stacks;
  const int processes = 1 + static_cast<int>(rng.below(8));
  for (int p = 0; p < processes; ++p) {
    const int pid = 100 * (p + 1);
    std::vector<samples::ThreadSample> threads;
    const int count = static_cast<int>(rng.below(6));
    for (int t = 0; t < count; ++t) {
      samples::Frames frames;
      for (std::uint64_t depth = rng.below(9); depth > 0; --depth) frames.push_back(random_frame(rng));
      samples::ThreadSample thread(pid + t, "pool-" + std::to_string(t), std::move(frames));
      thread.thread.motion = static_cast<wire::Motion>(rng.below(wire::kMotionCount));
      thread.thread.crashed = rng.below(20) == 0;
      thread.thread.incomplete = rng.below(10) == 0;
      thread.thread.gap_after = rng.below(5) == 0 ? static_cast<std::int32_t>(rng.below(9)) : -1;
      threads.push_back(std::move(thread));
    }
    samples::add_process(stacks, rng.below(5) == 0 ? -1 : p, pid, std::move(threads));
  }
  return stacks;
}

template <class T>
void shuffle(std::vector<T>& values, Rng& rng) {
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[rng.below(i)]);
}

// Returns the same stacks as another run of the probe might report them.
Stacks shuffled(Stacks stacks, Rng& rng) {
  std::vector<std::uint32_t> order(stacks.table.size());
  std::iota(order.begin(), order.end(), 0U);
  shuffle(order, rng);
  std::vector<wire::StackFrame> table(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) table[order[i]] = stacks.table[i];
  stacks.table = std::move(table);
  for (Process& process : stacks.processes) {
    for (wire::ThreadStack& thread : process.threads) {
      for (std::uint32_t& frame : thread.frames) frame = order[frame];
    }
    shuffle(process.threads, rng);
  }
  shuffle(stacks.processes, rng);
  return stacks;
}

using Holders = std::multiset<std::pair<std::uint32_t, std::int32_t>>;

Holders all_holders(const Stacks& stacks) {
  Holders all;
  for (std::uint32_t p = 0; p < stacks.processes.size(); ++p) {
    const auto count = static_cast<std::int32_t>(stacks.processes[p].threads.size());
    for (std::int32_t t = 0; t < count; ++t) all.insert({p, t});
    if (count == 0) all.insert({p, -1});
  }
  return all;
}

// Visits every part once, and checks that it is where the node says.
void collect(const StackTree& tree, const Node& node, Holders& found) {
  std::uint32_t place = 0;
  for (const Node::Part& part : node.parts) {
    const std::uint32_t its_place = part.is_group ? tree.groups[part.index].place : tree.nodes[part.index].place;
    REQUIRE((&part == &node.parts.front() || its_place > place));
    place = its_place;
    if (!part.is_group) {
      const Node& child = tree.nodes[part.index];
      REQUIRE(child.begin == node.end);
      REQUIRE(child.end > child.begin);
      collect(tree, child, found);
      continue;
    }
    const Group& group = tree.groups[part.index];
    REQUIRE(group.frames.size() == node.end);
    for (const Holder& holder : group.holders) found.insert({holder.process, holder.thread});
  }
}

std::string text_of(const Stacks& stacks) { return plain(tree_text(stacks, merge(stacks))); }

}  // namespace

TEST_CASE("the order in which stacks were gathered has no effect") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Stacks stacks = random_stacks(seed);
    Rng rng(seed + 1);
    INFO("seed " << seed);
    REQUIRE(text_of(shuffled(stacks, rng)) == text_of(stacks));
  }
}

TEST_CASE("every thread is in one leaf, or among distrun's internal threads") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Stacks stacks = random_stacks(seed);
    const StackTree tree = merge(stacks);
    INFO("seed " << seed);
    Holders found;
    collect(tree, tree.nodes.front(), found);
    for (const Holder& holder : tree.own) found.insert({holder.process, holder.thread});
    REQUIRE(found == all_holders(stacks));
  }
}

TEST_CASE("threads of a group have the same functions and lines") {
  const Stacks stacks = samples::alike(3, 4);
  const StackTree tree = merge(stacks);
  REQUIRE(tree.groups.size() == 2);
  CHECK(tree.own.size() == 3);
  for (const Group& group : tree.groups) {
    for (const Holder& holder : group.holders) {
      const auto& frames = stacks.processes[holder.process].threads[static_cast<std::size_t>(holder.thread)].frames;
      REQUIRE(frames.size() == group.frames.size());
      for (std::size_t i = 0; i < frames.size(); ++i) {
        const wire::StackFrame& own = stacks.table[frames[frames.size() - 1 - i]];
        const wire::StackFrame& merged = tree.frames[group.frames[i]];
        REQUIRE((own.function == merged.function && own.file == merged.file && own.line == merged.line));
      }
    }
  }
}

TEST_CASE("equal stacks in different conditions are different groups") {
  Stacks stacks = samples::alike(4, 1);
  stacks.processes[1].threads[0].motion = wire::Motion::Spinning;
  stacks.processes[2].threads[0].crashed = true;
  const StackTree tree = merge(stacks);
  REQUIRE(tree.groups.size() == 3);
  const std::string text = text_of(stacks);
  CHECK(text.find("rank 2 (main thread, crashed") < text.find("rank 1 (main thread, spinning"));
  CHECK(text.find("rank 1 (main thread, spinning") < text.find("ranks 0, 3 (main threads, waiting"));
}

namespace {

// Returns a process with threads of the same frames, which wait for these mutexes: number, and thread that holds it.
Stacks waiters(const std::vector<std::pair<int, int>>& mutexes) {
  std::vector<samples::ThreadSample> threads;
  for (const auto& [mutex, holder] : mutexes) {
    const int tid = 100 + static_cast<int>(threads.size());
    threads.emplace_back(tid, "worker", samples::Frames{samples::user("ring::take()", "ring.cpp", 10)});
    threads.back().observes(wire::WaitObject::Mutex, "mutex " + std::to_string(mutex),
                            {{100, holder, "thread " + std::to_string(holder)}});
  }
  Stacks stacks;
  samples::add_process(stacks, 0, 100, std::move(threads));
  return stacks;
}

std::vector<std::size_t> sizes_of_groups(const Stacks& stacks) {
  std::vector<std::size_t> sizes;
  for (const Group& group : merge(stacks).groups) sizes.push_back(group.holders.size());
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

using Sizes = std::vector<std::size_t>;

}  // namespace

TEST_CASE("a group lists each object that its threads wait for, with the holder") {
  const Stacks stacks = waiters({{1, 900}, {2, 901}, {1, 900}, {2, 901}});
  CHECK(sizes_of_groups(stacks) == Sizes{4});
  CHECK_THAT(text_of(stacks), Catch::StartsWith("rank 0 (4 threads, 1 main, waiting for mutex 1 held by thread 900; "
                                                "mutex 2 held by thread 901)\n"));
}

TEST_CASE("of many objects a group says how many it does not list") {
  std::vector<std::pair<int, int>> mutexes;
  for (int i = 0; i < 20; ++i) mutexes.emplace_back(i / 2, 900 + i / 2);
  CHECK_THAT(text_of(waiters(mutexes)), Catch::Contains("mutex 7 held by thread 907; and 2 more)\n"));
}

TEST_CASE("a thread in a cycle of waits does not share its group") {
  CHECK(sizes_of_groups(waiters({{1, 101}, {2, 100}, {1, 101}, {1, 101}})) == Sizes{1, 1, 2});
  CHECK(sizes_of_groups(waiters({{1, 100}, {1, 100}, {1, 100}})) == Sizes{1, 2});
  CHECK(sizes_of_groups(waiters({{1, 101}, {2, 102}, {3, 900}, {3, 900}})) == Sizes{4});
}

TEST_CASE("the threads of a long cycle share a group, which no other thread joins") {
  std::vector<std::pair<int, int>> mutexes;
  for (int i = 0; i < 20; ++i) mutexes.emplace_back(i, 100 + (i + 1) % 20);
  mutexes.emplace_back(0, 101);
  CHECK(sizes_of_groups(waiters(mutexes)) == Sizes{1, 20});
}

TEST_CASE("a thread that waits for something else than most others does not share their group") {
  CHECK(sizes_of_groups(waiters({{1, 900}, {1, 900}, {2, 901}, {1, 900}})) == Sizes{1, 3});
  CHECK(sizes_of_groups(waiters({{1, 900}, {2, 901}})) == Sizes{2});
  CHECK(sizes_of_groups(waiters({{1, 900}, {2, 901}, {3, 902}, {4, 903}})) == Sizes{4});
}

TEST_CASE("a rank that waits for something else than most other ranks does not share their group") {
  Stacks stacks;
  for (int rank = 0; rank < 4; ++rank) {
    samples::ThreadSample body(100 + rank, "", samples::Frames{samples::user("ring::take()", "ring.cpp", 10)});
    const std::string file = rank == 2 ? "lock of /tmp/b" : "lock of /tmp/a";
    body.observes(wire::WaitObject::FileLock, file, {{900, 0, "900 (owner)"}});
    body.waits_in("fcntl(3, 0x7, 1)");
    samples::add_process(stacks, rank, 100 + rank, {body});
  }
  CHECK(sizes_of_groups(stacks) == Sizes{1, 3});
  CHECK_THAT(text_of(stacks), Catch::StartsWith("rank 2 (main thread, waiting in fcntl(3, ...) for lock of /tmp/b held "
                                                "by 900 (owner))\n"));
}

TEST_CASE("equal private locks of different ranks are no reason to tell the ranks apart") {
  Stacks stacks;
  for (int rank = 0; rank < 3; ++rank) {
    const int pid = 100 * (rank + 1);
    samples::ThreadSample body(pid, "", samples::Frames{samples::user("ring::take()", "ring.cpp", 10)});
    body.observes(wire::WaitObject::Mutex, "mutex " + std::to_string(rank), {{pid, pid + 1, ""}});
    samples::add_process(stacks, rank, pid, {body});
  }
  CHECK(sizes_of_groups(stacks) == Sizes{3});
}

TEST_CASE("a thread that waits for a lock is never counted as distrun's") {
  Stacks stacks = samples::one_in_read();
  wire::ThreadStack& listener = stacks.processes[3].threads[1];
  SECTION("of which the holder is known") { listener.waits_for = "mutex 0x1 held by thread 4730 (distrun-rank)"; }
  SECTION("of which it is not") { listener.wait.object = wire::WaitObject::ReadWriteLock; }
  CHECK(merge(stacks).own.size() == 3);
}

TEST_CASE("a frame that most ranks have names the ranks that do not have it") {
  CHECK_THAT(text_of(samples::one_in_read()), Catch::Contains("ring_test.cpp:57  ranks in [0-1, 3] | not in [2]\n") &&
                                                  Catch::Contains("ring_test.cpp:52\n"));
  CHECK_THAT(text_of(samples::all_different()), !Catch::Contains("not in"));
  CHECK_THAT(text_of(samples::alike(8, 1)), !Catch::Contains("not in"));
}

TEST_CASE("the momentary state of threads does not split a group") {
  Stacks stacks = samples::alike(4, 1);
  stacks.processes[1].threads[0].task.state = 'R';
  CHECK(merge(stacks).groups.size() == 1);
  stacks.processes[2].threads[0].task.state = 'T';
  CHECK(merge(stacks).groups.size() == 2);
}

TEST_CASE("a distrun thread is reported only if it does not do its work") {
  const auto with = [](auto&& change) {
    Stacks stacks = samples::one_in_read();
    change(stacks.processes[3].threads[1]);
    return merge(stacks).own.size();
  };
  CHECK(with([](wire::ThreadStack&) {}) == 4);
  CHECK(with([](wire::ThreadStack& thread) { thread.motion = wire::Motion::Spinning; }) == 3);
  CHECK(with([](wire::ThreadStack& thread) { thread.crashed = true; }) == 3);
  CHECK(with([](wire::ThreadStack& thread) { thread.task.state = 'D'; }) == 3);
  CHECK(with([](wire::ThreadStack& thread) { thread.incomplete = true; }) == 3);
  CHECK(with([](wire::ThreadStack& thread) { thread.frames.clear(); }) == 3);
}

TEST_CASE("a main thread is reported even if it is only in distrun code") {
  Stacks stacks;
  samples::add_process(stacks, 0, 10, {{10, "distrun-rank", {samples::machinery("distrun::rank::run_rank()")}}});
  CHECK(merge(stacks).own.empty());
  CHECK(text_of(stacks) == "rank 0 (main thread, waiting in futex)\n  distrun::rank::run_rank  rank/entry.cpp:70\n");
}

// As launch::LocalWorld separates them: a process for each rank, with its thread, and one for the other threads.
TEST_CASE("ranks that are threads are shown like main threads, and the thread that joins them is distrun's") {
  using namespace samples;
  Stacks stacks;
  const Frames body = Frames{user("scatter", "ring.cpp", 40)} + under_thread_start();
  const auto joins = machinery("distrun::rank::run_threads()");
  add_process(stacks, 0, 10, {{11, "rank 0", in_barrier() + under_thread_start()}});
  add_process(stacks, 1, 10, {{12, "rank 1", body}});
  add_process(stacks, 2, 10, {{13, "rank 2", in_barrier() + under_thread_start()}});
  add_process(stacks, -1, 10, {{10, "distrun-rank", in_futex() + Frames{joins}}, listener(14)});
  CHECK(merge(stacks).own.size() == 3);  // unless marked as ranks
  for (Process& process : stacks.processes) process.has_thread_ranks = true;
  const StackTree tree = merge(stacks);
  CHECK(tree.own.size() == 2);
  REQUIRE(tree.groups.size() == 2);
  const std::string text = text_of(stacks);
  CHECK_THAT(text, Catch::Contains("rank 1 (thread 12 \"rank 1\", waiting in futex)\n  scatter"));
  CHECK_THAT(text, Catch::Contains("ranks 0, 2 (") && Catch::Contains("in distrun::Rank::barrier"));
  CHECK_THAT(text, Catch::EndsWith(": 2 threads of distrun itself\n"));
}

TEST_CASE("no stacks give no lines") { CHECK(text_of(Stacks()).empty()); }
