// The output of a probe: a stream of tables and processes, read or refused frame by frame, gathered, merged and written
// as lines. For any input, indices are valid, every thread is in one leaf, and the lines are few and printable.
#include <algorithm>
#include <set>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/common/wire/frame.hpp>
#include <distrun/runner/evidence/stacks/tree_text.hpp>

#include "fuzz.hpp"

namespace {

using namespace distrun;
using evidence::Stacks;
using evidence::StackTree;
using fuzz::require;
using wire::ProbeFrame;

constexpr std::size_t kLineMax = 1500;  // bytes

void gather(const wire::Frame& frame, evidence::StacksBuilder& builder) {
  const wire::BytesView payload = wire::view_of(frame.payload);
  try {
    if (frame.is(ProbeFrame::Table)) builder.add(wire::decode<wire::StackTable>(payload));
    if (frame.is(ProbeFrame::Process)) builder.add(wire::decode<wire::ProcessStacks>(payload));
  } catch (const Error& error) {
    require(error.kind() == ErrorKind::InvalidArgument, "a refusal is an invalid argument");
  }
}

// Every other process is a rank, as a collector would set it.
Stacks gather(wire::BytesView stream) {
  evidence::StacksBuilder builder;
  wire::FrameSplitter splitter(wire::kProtocol<wire::ProbeFrame>);
  splitter.feed(stream);
  try {
    while (const auto frame = splitter.next()) gather(*frame, builder);
  } catch (const Error&) {
    // Frames before the error count.
  }
  Stacks stacks = builder.take();
  for (evidence::Process& process : stacks.processes) process.rank = process.index % 2 == 0 ? process.index / 2 : -1;
  return stacks;
}

void check_indices(const Stacks& stacks) {
  for (const evidence::Process& process : stacks.processes) {
    for (const wire::ThreadStack& thread : process.threads) {
      for (const std::uint32_t frame : thread.frames) require(frame < stacks.table.size(), "a frame is in the table");
      require(thread.gap_after <= static_cast<std::int64_t>(thread.frames.size()), "a gap is in its stack");
    }
  }
}

void check_tree(const Stacks& stacks, const StackTree& tree) {
  std::size_t told = 0;
  for (const evidence::Process& process : stacks.processes) told += std::max<std::size_t>(process.threads.size(), 1);
  std::set<std::pair<std::uint32_t, std::int32_t>> found;
  const auto find = [&](const evidence::Holder& holder) {
    require(found.insert({holder.process, holder.thread}).second, "a thread is in one leaf only");
  };
  std::size_t leaves = 0;
  for (const evidence::Node& node : tree.nodes) {
    for (const evidence::Node::Part& part : node.parts) leaves += part.is_group ? 1 : 0;
  }
  require(leaves == tree.groups.size(), "a group is one leaf");
  for (const evidence::Group& group : tree.groups) std::for_each(group.holders.begin(), group.holders.end(), find);
  std::for_each(tree.own.begin(), tree.own.end(), find);
  require(found.size() == told, "every thread is in a leaf");
}

std::string check_lines(const Stacks& stacks, const StackTree& tree, std::size_t limit) {
  evidence::TreeLimits limits;
  limits.lines = limit;
  const std::vector<evidence::Line> lines = evidence::tree_text(stacks, tree, limits);
  require(lines.size() <= limit, "lines have a limit");
  for (const evidence::Line& line : lines) {
    const std::string text = evidence::plain(line);
    require(text.size() <= kLineMax, "a line has a limit");
    require(base::printable(text) == text && text.find('\n') == std::string::npos, "a line is printable");
  }
  return evidence::plain(lines);
}

// The name of two threads with the same id depends on which comes first: only one can be right.
bool has_one_of_each(const Stacks& stacks) {
  std::set<std::pair<std::int32_t, std::int32_t>> threads;
  std::set<std::int32_t> pids;
  for (const evidence::Process& process : stacks.processes) {
    if (!pids.insert(process.pid).second || process.index < 0) return false;
    for (const wire::ThreadStack& thread : process.threads) {
      if (!threads.insert({process.pid, thread.task.tid}).second) return false;
    }
  }
  return true;
}

Stacks backwards(Stacks stacks) {
  std::reverse(stacks.processes.begin(), stacks.processes.end());
  for (evidence::Process& process : stacks.processes) std::reverse(process.threads.begin(), process.threads.end());
  return stacks;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Stacks stacks = gather(wire::view_of(data, size));
  check_indices(stacks);
  const StackTree tree = evidence::merge(stacks);
  check_tree(stacks, tree);
  check_lines(stacks, tree, 12);
  const std::string text = check_lines(stacks, tree, 200);
  if (!has_one_of_each(stacks)) return 0;
  const Stacks other = backwards(stacks);
  require(check_lines(other, evidence::merge(other), 200) == text, "the order of the reports has no effect");
  return 0;
}
