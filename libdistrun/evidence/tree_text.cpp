#include <distrun/evidence/tree_text.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include <distrun/base/text.hpp>
#include <distrun/evidence/group_title.hpp>

namespace distrun::evidence {
namespace {

constexpr std::size_t kBracketsMax = 4;  // one in the other; beyond them each group stands alone
constexpr std::size_t kDepthMax = 64;    // of nodes that are looked into one by one
constexpr std::size_t kBracketMin = 4;   // lines for which a bracket is worth its while
constexpr std::size_t kSourcesMax = 8;
constexpr std::size_t kWhyNotMax = 160;

using Block = std::vector<Line>;

void indent(Line& line, const char* by) { line.segments.insert(line.segments.begin(), {Tone::Dim, by}); }

void indent(Block& block, const char* first, const char* others) {
  for (std::size_t i = 0; i < block.size(); ++i) indent(block[i], i == 0 ? first : others);
}

class TreeWriter {
 public:
  TreeWriter(const Stacks& stacks, const StackTree& tree, const TreeLimits& limits)
      : stacks_(stacks), tree_(tree), limits_(limits), names_(tree) {}

  Block write();

 private:
  // Where a part is looked at: its frames before `from` are told elsewhere.
  struct Place {
    std::size_t from = 0;
    std::size_t depth = 0;
    std::size_t brackets = 0;
  };

  Block tail() const;
  void add_unanswered(Block& lines) const;
  Line left_out() const;

  void add_parts(const Node& node, Place place, std::vector<Block>& out);
  void add_node(const Node& node, Place place, std::vector<Block>& out);
  void add_group(const Group& group, std::size_t from, std::vector<Block>& out);
  void add_each_group(const Node& node, std::size_t from, std::vector<Block>& out);
  Block joined(const Node& node, Place place, std::size_t to);

  std::size_t end_of_shared(const Node& node, std::size_t from) const;
  std::size_t behind_last_user(const Group& group, std::size_t from, std::size_t to) const;

  const Stacks& stacks_;
  const StackTree& tree_;
  const TreeLimits& limits_;
  SourceNames names_;
  std::size_t room_ = 0;  // lines
  std::vector<Holder> no_room_for_;
  std::size_t groups_left_out_ = 0;
};

Block TreeWriter::write() {
  const Block last = tail();
  room_ = limits_.lines - std::min(limits_.lines, last.size() + 1);
  std::vector<Block> blocks;
  add_parts(tree_.nodes.front(), {}, blocks);
  Block lines;
  for (Block& block : blocks) std::move(block.begin(), block.end(), std::back_inserter(lines));
  if (groups_left_out_ > 0) lines.push_back(left_out());
  lines.insert(lines.end(), last.begin(), last.end());
  return lines;
}

// ---- parts

void TreeWriter::add_parts(const Node& node, Place place, std::vector<Block>& out) {
  ++place.depth;
  for (const Node::Part& part : node.parts) {
    if (part.is_group) {
      add_group(tree_.groups[part.index], place.from, out);
    } else {
      add_node(tree_.nodes[part.index], place, out);
    }
  }
}

void TreeWriter::add_node(const Node& node, Place place, std::vector<Block>& out) {
  if (place.depth >= kDepthMax || place.brackets >= kBracketsMax) return add_each_group(node, place.from, out);
  const std::size_t shared_end = node.parts.size() > 1 ? end_of_shared(node, place.from) : place.from;
  if (shared_end == place.from || room_ <= limits_.frames.lines + kBracketMin) return add_parts(node, place, out);
  Block block = joined(node, place, shared_end);
  if (!block.empty()) out.push_back(std::move(block));
}

Block TreeWriter::joined(const Node& node, Place place, std::size_t to) {
  const Group& any = tree_.groups[node.first_group];
  Block callers = frame_lines(tree_, names_, {any.frames, place.from, to, false}, limits_.frames);
  indent(callers, "  ", "  ");
  callers.insert(callers.begin(), Line().add(Tone::Dim, "all called by"));
  indent(callers, "└ ", "  ");
  room_ -= std::min(room_, callers.size());
  std::vector<Block> parts;
  add_parts(node, {to, place.depth, place.brackets + 1}, parts);
  Block block;
  for (Block& part : parts) {
    indent(part, block.empty() ? "┌ " : "├ ", "│ ");
    std::move(part.begin(), part.end(), std::back_inserter(block));
  }
  if (!block.empty()) std::move(callers.begin(), callers.end(), std::back_inserter(block));
  return block;
}

void TreeWriter::add_group(const Group& group, std::size_t from, std::vector<Block>& out) {
  Block block;
  if (groups_left_out_ == 0) {
    const FrameRange range{group.frames, from, group.frames.size(), true};
    block = condition_lines(stacks_, group);
    const Block frames = frame_lines(tree_, names_, range, limits_.frames);
    block.insert(block.end(), frames.begin(), frames.end());
    indent(block, "  ", "  ");
    block.insert(block.begin(), group_title(stacks_, group));
  }
  if (groups_left_out_ > 0 || block.size() > room_) {
    ++groups_left_out_;
    no_room_for_.insert(no_room_for_.end(), group.holders.begin(), group.holders.end());
    return;
  }
  room_ -= block.size();
  out.push_back(std::move(block));
}

void TreeWriter::add_each_group(const Node& node, std::size_t from, std::vector<Block>& out) {
  std::vector<const Group*> groups;
  for (std::uint32_t i = node.first_group; i < node.last_group; ++i) groups.push_back(&tree_.groups[i]);
  std::sort(groups.begin(), groups.end(), [](const Group* a, const Group* b) { return a->place < b->place; });
  for (const Group* group : groups) add_group(*group, from, out);
}

// ---- what the groups of a node share

std::size_t TreeWriter::behind_last_user(const Group& group, std::size_t from, std::size_t to) const {
  while (to > from && !tree_.is_user(group.frames[to - 1])) --to;
  return to;
}

// The shared frames end with one of the test's own, and leave one of those to each group: a group is understood by
// itself. Where nothing of the test is left to share, each group tells all its frames.
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
  if (stacks_.cut) lines.push_back(Line().add(Tone::Warn, "more stacks came than are kept"));
  return lines;
}

// A process without stacks says so in its own block.
void TreeWriter::add_unanswered(Block& lines) const {
  std::map<std::pair<std::string, std::string>, std::vector<Holder>> unanswered;
  for (const Group& group : tree_.groups) {
    if (group.frames.empty()) continue;
    for (const Holder& holder : group.holders) {
      for (const Source& source : stacks_.processes[holder.process].sources) {
        if (!source.answered) unanswered[{source.name, source.why_not}].push_back(holder);
      }
    }
  }
  std::size_t count = 0;
  for (auto& [source, holders] : unanswered) {
    if (++count > kSourcesMax) return lines.push_back(Line().add(Tone::Dim, "and more sources did not answer"));
    std::sort(holders.begin(), holders.end(), [&](const Holder& a, const Holder& b) { return before(stacks_, a, b); });
    const std::string why = base::one_line(source.second, kWhyNotMax);
    lines.push_back(Line().add(Tone::Dim, who(stacks_, holders) + ": no answer from the " +
                                              base::one_line(source.first, kWhyNotMax) +
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
