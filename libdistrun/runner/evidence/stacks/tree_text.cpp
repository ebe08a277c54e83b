#include <distrun/runner/evidence/stacks/tree_text.hpp>

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include <distrun/common/base/text.hpp>
#include <distrun/runner/evidence/stacks/group_title.hpp>

namespace distrun::evidence {
namespace {

constexpr std::size_t kBracketsMax = 4;  // nested; beyond this each group is shown on its own
constexpr std::size_t kDepthMax = 64;    // of nodes that are visited individually
constexpr std::size_t kSourcesMax = 8;
constexpr std::size_t kWhyNotMax = 160;

using Block = std::vector<Line>;

void indent(Block& block, const char* first, const char* others) {
  for (std::size_t i = 0; i < block.size(); ++i) block[i].add_front(Tone::Dim, i == 0 ? first : others);
}

class TreeWriter {
 public:
  TreeWriter(const Stacks& stacks, const StackTree& tree, const TreeLimits& limits)
      : stacks_(stacks), tree_(tree), limits_(limits), names_(tree), ranks_(stacks, tree) {}

  Block write();

 private:
  // How a node is shown: its frames before `from` are shown elsewhere.
  struct View {
    std::size_t from = 0;
    std::size_t depth = 0;
    std::size_t brackets = 0;
  };
  // The source of one block: a group, or a node with groups that share the frames up to `shared_end`.
  struct Item {
    std::uint32_t place = 0;
    const Group* group = nullptr;
    const Node* node = nullptr;
    std::size_t shared_end = 0;
  };

  Block tail() const;
  void add_unanswered(Block& lines) const;
  Line left_out() const;

  void collect(const Node& node, View view, std::vector<Item>& items) const;
  void collect_node(const Node& node, View view, std::vector<Item>& items) const;
  std::vector<Block> blocks_of(const Node& node, View view);
  Block block_of(const Group& group, std::size_t from);
  Block joined(const Node& node, View view, std::size_t to);

  std::size_t end_of_shared(const Node& node, std::size_t from) const;
  std::size_t behind_last_user(const Group& group, std::size_t from, std::size_t to) const;

  const Stacks& stacks_;
  const StackTree& tree_;
  const TreeLimits& limits_;
  SourceNames names_;
  FrameRanks ranks_;
  std::size_t room_ = 0;  // lines
  std::vector<Holder> no_room_for_;
  std::size_t groups_left_out_ = 0;
};

Block TreeWriter::write() {
  const Block last = tail();
  room_ = limits_.lines - std::min(limits_.lines, last.size() + 1);
  Block lines;
  for (Block& block : blocks_of(tree_.nodes.front(), {})) {
    std::move(block.begin(), block.end(), std::back_inserter(lines));
  }
  if (groups_left_out_ > 0) lines.push_back(left_out());
  lines.insert(lines.end(), last.begin(), last.end());
  return lines;
}

// ---- blocks

// If the groups of a node share no frames, its parts are placed among those of the parent node.
void TreeWriter::collect(const Node& node, View view, std::vector<Item>& items) const {
  ++view.depth;
  for (const Node::Part& part : node.parts) {
    if (part.is_group) {
      items.push_back({tree_.groups[part.index].place, &tree_.groups[part.index], nullptr, 0});
    } else {
      collect_node(tree_.nodes[part.index], view, items);
    }
  }
}

void TreeWriter::collect_node(const Node& node, View view, std::vector<Item>& items) const {
  if (view.depth >= kDepthMax || view.brackets >= kBracketsMax) {
    for (std::uint32_t i = node.first_group; i < node.last_group; ++i) {
      items.push_back({tree_.groups[i].place, &tree_.groups[i], nullptr, 0});
    }
    return;
  }
  const std::size_t shared_end = node.parts.size() > 1 ? end_of_shared(node, view.from) : view.from;
  if (shared_end == view.from) return collect(node, view, items);
  items.push_back({node.place, nullptr, &node, shared_end});
}

std::vector<Block> TreeWriter::blocks_of(const Node& node, View view) {
  std::vector<Item> items;
  collect(node, view, items);
  std::sort(items.begin(), items.end(), [](const Item& a, const Item& b) { return a.place < b.place; });
  std::vector<Block> blocks;
  for (const Item& item : items) {
    Block block = item.group != nullptr ? block_of(*item.group, view.from) : joined(*item.node, view, item.shared_end);
    if (!block.empty()) blocks.push_back(std::move(block));
  }
  return blocks;
}

Block TreeWriter::joined(const Node& node, View view, std::size_t to) {
  const Group& any = tree_.groups[node.first_group];
  Block callers = frame_lines(tree_, names_, ranks_, {any.frames, view.from, to, false}, limits_.frames);
  indent(callers, "  ", "  ");
  callers.insert(callers.begin(), Line().add(Tone::Dim, "all called by"));
  indent(callers, "└ ", "  ");
  room_ -= std::min(room_, callers.size());
  Block block;
  for (Block& part : blocks_of(node, {to, view.depth, view.brackets + 1})) {
    indent(part, block.empty() ? "┌ " : "├ ", "│ ");
    std::move(part.begin(), part.end(), std::back_inserter(block));
  }
  if (!block.empty()) std::move(callers.begin(), callers.end(), std::back_inserter(block));
  return block;
}

// Returns an empty block if there is no room. Later blocks are then left out, too: otherwise a long unusual stack could
// be dropped in favour of short common ones.
Block TreeWriter::block_of(const Group& group, std::size_t from) {
  Block block;
  if (groups_left_out_ == 0) {
    const FrameRange range{group.frames, from, group.frames.size(), true};
    block = condition_lines(stacks_, group);
    const Block frames = frame_lines(tree_, names_, ranks_, range, limits_.frames);
    block.insert(block.end(), frames.begin(), frames.end());
    indent(block, "  ", "  ");
    block.insert(block.begin(), group_title(stacks_, group));
  }
  if (groups_left_out_ > 0 || block.size() > room_) {
    ++groups_left_out_;
    no_room_for_.insert(no_room_for_.end(), group.holders.begin(), group.holders.end());
    return {};
  }
  room_ -= block.size();
  return block;
}

// ---- what the groups of a node share

std::size_t TreeWriter::behind_last_user(const Group& group, std::size_t from, std::size_t to) const {
  while (to > from && !tree_.is_user(group.frames[to - 1])) --to;
  return to;
}

// The shared frames end with a frame of the test, and leave at least one more to each group, so that each group can be
// understood alone. If no frame of the test is left to share, each group shows all its frames.
std::size_t TreeWriter::end_of_shared(const Node& node, std::size_t from) const {
  const Group& any = tree_.groups[node.first_group];
  bool each_has_more = true;
  for (std::uint32_t i = node.first_group; i < node.last_group; ++i) {
    const Group& group = tree_.groups[i];
    each_has_more = each_has_more && behind_last_user(group, node.end, group.frames.size()) > node.end;
  }
  const std::size_t end = behind_last_user(any, from, node.end);
  return each_has_more || end == from ? end : behind_last_user(any, from, end - 1);
}

// ---- what comes last

Block TreeWriter::tail() const {
  Block lines;
  if (!tree_.own.empty()) {
    const std::size_t count = tree_.own.size();
    const std::string threads = count == 1 ? "a thread" : std::to_string(count) + " threads";
    lines.push_back(Line().add(Tone::Dim, who(stacks_, tree_.own) + ": " + threads + " of distrun itself"));
  }
  add_unanswered(lines);
  if (stacks_.descendants_left > 0) {
    const bool one = stacks_.descendants_left == 1;
    lines.push_back(Line().add(Tone::Warn, std::to_string(stacks_.descendants_left) +
                                               (one ? " more process" : " more processes") +
                                               " started by ranks: not looked at"));
  }
  if (stacks_.cut) lines.push_back(Line().add(Tone::Warn, "more stacks arrived than are kept"));
  return lines;
}

// A process without stacks is explained in its own block.
void TreeWriter::add_unanswered(Block& lines) const {
  std::map<std::tuple<bool, std::string, std::string>, std::vector<Holder>> unanswered;
  for (const Group& group : tree_.groups) {
    if (group.frames.empty()) continue;
    for (const Holder& holder : group.holders) {
      for (const Source& source : stacks_.processes[holder.process].sources) {
        if (source.answered && source.why_not.empty()) continue;
        unanswered[{source.answered, source.name, source.why_not}].push_back(holder);
      }
    }
  }
  std::size_t count = 0;
  for (auto& [source, holders] : unanswered) {
    if (++count > kSourcesMax) return lines.push_back(Line().add(Tone::Dim, "and more sources did not answer"));
    std::sort(holders.begin(), holders.end(), [&](const Holder& a, const Holder& b) { return before(stacks_, a, b); });
    const auto& [answered, name, why_not] = source;
    const std::string why = base::one_line(why_not, kWhyNotMax);
    lines.push_back(Line().add(Tone::Dim, who(stacks_, holders) + (answered ? ": incomplete" : ": no") +
                                              " answer from the " + base::one_line(name, kWhyNotMax) +
                                              (why.empty() ? "" : ": " + why)));
  }
}

Line TreeWriter::left_out() const {
  std::vector<Holder> holders = no_room_for_;
  std::sort(holders.begin(), holders.end(), [&](const Holder& a, const Holder& b) { return before(stacks_, a, b); });
  const std::string groups = groups_left_out_ == 1 ? "a group" : std::to_string(groups_left_out_) + " groups";
  const std::string threads = holders.size() == 1 ? "a thread" : std::to_string(holders.size()) + " threads";
  return Line().add(Tone::Warn, "... and " + groups + " more, of " + threads + ", not shown: " + who(stacks_, holders));
}

}  // namespace

std::vector<Line> tree_text(const Stacks& stacks, const StackTree& tree, const TreeLimits& limits) {
  return TreeWriter(stacks, tree, limits).write();
}

}  // namespace distrun::evidence
