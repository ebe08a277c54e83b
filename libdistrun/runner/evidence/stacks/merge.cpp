#include <distrun/runner/evidence/stacks/merge.hpp>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <distrun/runner/evidence/stacks/wait_labels.hpp>

namespace distrun::evidence {
namespace {

using Ids = std::vector<std::uint32_t>;

// ---- frames

auto identity_of(const wire::StackFrame& frame) {
  const bool has_name = !frame.function.empty();
  const std::uint64_t offset = has_name || frame.module.empty() ? 0 : frame.offset;
  const std::uint64_t pc = has_name || !frame.module.empty() ? 0 : frame.pc;
  return std::tuple(std::string_view(frame.function), std::string_view(frame.file), frame.line,
                    std::string_view(frame.module), offset, pc, frame.inlined, frame.signal_frame);
}

// Fills the tree's frames and maps each frame of the table to one of them. Most frames of a table repeat those of
// another process, so the map stays small.
Ids fold_frames(const std::vector<wire::StackFrame>& table, StackTree& tree) {
  std::map<decltype(identity_of(table.front())), Ids> equals;
  for (std::uint32_t i = 0; i < table.size(); ++i) equals[identity_of(table[i])].push_back(i);
  Ids folded(table.size());
  for (const auto& [identity, indices] : equals) {
    for (const std::uint32_t index : indices) folded[index] = static_cast<std::uint32_t>(tree.frames.size());
    tree.frames.push_back(table[indices.front()]);
    tree.classes.push_back(class_of(tree.frames.back()));
  }
  return folded;
}

// Returns outermost frames first.
Ids frames_of(const wire::ThreadStack& thread, const Ids& folded) {
  Ids frames;
  frames.reserve(thread.frames.size() + 2);
  if (thread.incomplete && !thread.frames.empty()) frames.push_back(kLostMark);
  for (std::size_t i = thread.frames.size(); i-- > 0;) {
    if (static_cast<std::int64_t>(i) + 1 == thread.gap_after) frames.push_back(kGapMark);
    frames.push_back(folded[thread.frames[i]]);
  }
  if (thread.gap_after == 0) frames.push_back(kGapMark);
  return frames;
}

// ---- groups

auto place_of(const Stacks& stacks, const Holder& holder) {
  const Process& process = stacks.processes[holder.process];
  const bool has_thread = holder.thread >= 0;
  const wire::ThreadStack* thread = has_thread ? &process.threads[static_cast<std::size_t>(holder.thread)] : nullptr;
  return std::tuple(process.rank < 0, process.rank, process.host, process.pid,
                    thread != nullptr && !is_main(process, *thread), thread != nullptr ? thread->task.tid : 0,
                    holder.process, holder.thread);
}

// Returns whether the thread runs a test body. Where ranks are threads, the main thread only waits for them.
bool runs_body(const Process& process, const wire::ThreadStack& thread) {
  return process.has_thread_ranks ? process.rank >= 0 : is_main(process, thread);
}

// Returns whether it is one of distrun's own threads in a rank, behaving normally, and so is of no interest. One that
// waits for a lock may be part of a deadlock.
bool is_own(const StackTree& tree, const Group& group, const Process& process, const wire::ThreadStack& thread) {
  if (runs_body(process, thread) || group.has_user_code || thread.crashed || thread.incomplete) return false;
  if (waits_for_lock(thread)) return false;
  if (thread.motion == wire::Motion::Spinning || thread.task.state == 'D' || thread.gap_after >= 0) return false;
  return std::any_of(group.frames.begin(), group.frames.end(),
                     [&](std::uint32_t frame) { return tree.classes[frame] == FrameClass::Machinery; });
}

Group group_of(const StackTree& tree, const Ids& folded, const WaitLabels& labels, const Process& process,
               const wire::ThreadStack& thread) {
  Group group;
  group.frames = frames_of(thread, folded);
  group.condition = condition_of(process, thread);
  group.condition.apart = labels.cycle_of(thread, process.host);
  group.has_user_code =
      std::any_of(group.frames.begin(), group.frames.end(), [&](std::uint32_t frame) { return tree.is_user(frame); });
  return group;
}

// Makes a group for each thread.
std::vector<Group> groups_of_one(const Stacks& stacks, const Ids& folded, const WaitLabels& labels, StackTree& tree) {
  std::vector<Group> groups;
  for (std::size_t p = 0; p < stacks.processes.size(); ++p) {
    const Process& process = stacks.processes[p];
    const auto index = static_cast<std::uint32_t>(p);
    for (std::size_t t = 0; t < process.threads.size(); ++t) {
      Group group = group_of(tree, folded, labels, process, process.threads[t]);
      const Holder holder{index, static_cast<std::int32_t>(t)};
      if (is_own(tree, group, process, process.threads[t])) {
        tree.own.push_back(holder);
      } else {
        group.holders = {holder};
        groups.push_back(std::move(group));
      }
    }
    if (process.threads.empty()) {
      groups.emplace_back();
      groups.back().condition = condition_of(process);
      groups.back().holders = {Holder{index, -1}};
    }
  }
  return groups;
}

void fold_groups(const Stacks& stacks, std::vector<Group> ones, StackTree& tree) {
  std::sort(ones.begin(), ones.end(), [&](const Group& a, const Group& b) {
    if (const auto order = a.frames <=> b.frames; order != 0) return order < 0;
    if (const auto order = a.condition <=> b.condition; order != 0) return order < 0;
    return before(stacks, a.holders.front(), b.holders.front());
  });
  for (Group& one : ones) {
    Group* last = tree.groups.empty() ? nullptr : &tree.groups.back();
    if (last != nullptr && last->frames == one.frames && last->condition == one.condition) {
      last->holders.push_back(one.holders.front());
    } else {
      tree.groups.push_back(std::move(one));
    }
  }
}

// ---- threads that wait for something else

using Labels = std::map<std::string, std::vector<std::size_t>>;  // positions among the holders, by what they wait for

// Adds the labels of which only one thread has each, if most threads share another one.
void add_odd(const Labels& labels, std::size_t count, std::vector<std::size_t>& odd) {
  std::vector<std::size_t> found;
  bool has_most = false;
  for (const auto& [label, positions] : labels) {
    has_most = has_most || (!label.empty() && 2 * positions.size() > count);
    if (positions.size() == 1) found.push_back(positions.front());
  }
  if (has_most && found.size() <= kOddMax) odd.insert(odd.end(), found.begin(), found.end());
}

// Returns positions among the holders, ascending: within each process, and, where each has only one of the threads,
// between the processes.
std::vector<std::size_t> odd_holders(const Stacks& stacks, const WaitLabels& labels, const Group& group) {
  std::vector<std::size_t> odd;
  std::map<std::uint32_t, Labels> by_process;
  Labels kinds;
  for (std::size_t i = 0; i < group.holders.size(); ++i) {
    const Process& process = stacks.processes[group.holders[i].process];
    const wire::ThreadStack* thread = thread_of(stacks, group.holders[i]);
    if (thread == nullptr) return odd;
    by_process[group.holders[i].process][labels.label_of(process, *thread)].push_back(i);
    kinds[labels.kind_of(process, *thread)].push_back(i);
  }
  if (by_process.size() == group.holders.size()) {
    add_odd(kinds, group.holders.size(), odd);
  } else {
    for (const auto& [index, its_labels] : by_process) {
      std::size_t count = 0;
      for (const auto& [label, positions] : its_labels) count += positions.size();
      if (count > 2) add_odd(its_labels, count, odd);
    }
  }
  std::sort(odd.begin(), odd.end());
  return odd;
}

// Moves the odd threads to groups of their own, behind the group.
void split_odd(const Stacks& stacks, const WaitLabels& labels, StackTree& tree) {
  std::vector<Group> groups;
  for (Group& group : tree.groups) {
    const bool may_differ = group.holders.size() > 2 && group.condition.apart == 0;
    const std::vector<std::size_t> odd = may_differ ? odd_holders(stacks, labels, group) : std::vector<std::size_t>();
    std::vector<Group> apart(odd.size(), group);
    for (std::size_t i = odd.size(); i-- > 0;) {
      apart[i].holders = {group.holders[odd[i]]};
      group.holders.erase(group.holders.begin() + static_cast<std::ptrdiff_t>(odd[i]));
    }
    groups.push_back(std::move(group));
    std::move(apart.begin(), apart.end(), std::back_inserter(groups));
  }
  tree.groups = std::move(groups);
}

void set_waits(const Stacks& stacks, const WaitLabels& labels, Group& group) {
  std::set<std::string> known;
  for (const Holder& holder : group.holders) {
    const wire::ThreadStack* thread = thread_of(stacks, holder);
    std::string label = thread != nullptr ? labels.label_of(stacks.processes[holder.process], *thread) : "";
    if (!label.empty() && known.insert(label).second) group.waits.push_back(std::move(label));
  }
}

std::size_t processes_of(const Group& group) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < group.holders.size(); ++i) {
    if (i == 0 || group.holders[i].process != group.holders[i - 1].process) ++count;
  }
  return count;
}

// merge.hpp explains the reading order.
void place_groups(const Stacks& stacks, StackTree& tree) {
  const auto key_of = [&](const Group& group) {
    const Condition& condition = group.condition;
    const wire::ThreadStack* thread = thread_of(stacks, group.holders.front());
    const bool is_locked = thread != nullptr && waits_for_lock(*thread);
    const bool may_tell = group.has_user_code || group.frames.empty() || is_locked;
    const bool tells_why = condition.motion == wire::Motion::Spinning || !group.waits.empty();
    const auto first = place_of(stacks, group.holders.front());
    return std::tuple(!condition.crashed, !may_tell, processes_of(group), !tells_why, std::get<4>(first), first);
  };
  using Key = decltype(key_of(tree.groups.front()));
  std::vector<std::pair<Key, std::size_t>> order;
  for (std::size_t i = 0; i < tree.groups.size(); ++i) order.emplace_back(key_of(tree.groups[i]), i);
  std::sort(order.begin(), order.end());
  for (std::size_t i = 0; i < order.size(); ++i) tree.groups[order[i].second].place = static_cast<std::uint32_t>(i);
}

// ---- nodes

std::uint32_t common_end(const Ids& a, const Ids& b, std::uint32_t from) {
  while (from < a.size() && from < b.size() && a[from] == b[from]) ++from;
  return from;
}

// The groups are sorted by frames: those with the same next frame are neighbours, after those that end.
void fork_node(StackTree& tree, std::size_t at) {
  const Node node = tree.nodes[at];
  std::vector<std::pair<std::uint32_t, Node::Part>> parts;  // in the reading order
  for (std::uint32_t group = node.first_group; group < node.last_group;) {
    const Ids& frames = tree.groups[group].frames;
    std::uint32_t place = tree.groups[group].place;
    if (frames.size() == node.end) {
      parts.emplace_back(place, Node::Part{true, group});
      ++group;
      continue;
    }
    std::uint32_t last = group + 1;
    for (; last < node.last_group && tree.groups[last].frames[node.end] == frames[node.end]; ++last) {
      place = std::min(place, tree.groups[last].place);
    }
    parts.emplace_back(place, Node::Part{false, static_cast<std::uint32_t>(tree.nodes.size())});
    const std::uint32_t end = common_end(frames, tree.groups[last - 1].frames, node.end);
    tree.nodes.push_back({node.end, end, group, last, place, {}});
    group = last;
  }
  std::sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [place, part] : parts) tree.nodes[at].parts.push_back(part);
}

}  // namespace

bool before(const Stacks& stacks, const Holder& a, const Holder& b) {
  return place_of(stacks, a) < place_of(stacks, b);
}

bool is_main(const Process& process, const wire::ThreadStack& thread) noexcept {
  return thread.task.tid == process.pid;
}

StackTree merge(const Stacks& stacks) {
  StackTree tree;
  const Ids folded = fold_frames(stacks.table, tree);
  const WaitLabels labels(stacks);
  fold_groups(stacks, groups_of_one(stacks, folded, labels, tree), tree);
  split_odd(stacks, labels, tree);
  for (Group& group : tree.groups) set_waits(stacks, labels, group);
  place_groups(stacks, tree);
  std::sort(tree.own.begin(), tree.own.end(), [&](const Holder& a, const Holder& b) { return before(stacks, a, b); });
  tree.nodes.push_back({0, 0, 0, static_cast<std::uint32_t>(tree.groups.size()), 0, {}});
  for (std::size_t at = 0; at < tree.nodes.size(); ++at) fork_node(tree, at);
  return tree;
}

}  // namespace distrun::evidence
