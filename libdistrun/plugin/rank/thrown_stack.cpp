#include <distrun/plugin/rank/thrown_stack.hpp>

#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>

#include <distrun/plugin/rank/modules.hpp>

namespace distrun::rank {
namespace {

constexpr std::size_t kPcsMax = wire::kInnerFrames + wire::kOuterFrames;

bool has_stack(const distrun_error& error) {
  constexpr std::size_t kEnd = offsetof(distrun_error, pc_count) + sizeof error.pc_count;
  return error.size >= kEnd && error.pcs != nullptr && error.pc_count > 0;
}

// The loader keeps a file while its code is on this thread's stack, or was a moment ago.
void add_modules(wire::RawStacks& stacks, const std::vector<std::uint64_t>& pcs) {
  std::vector<Module> known;
  for (const std::uint64_t pc : pcs) {
    const auto holds = [pc](const Module& module) { return pc >= module.start && pc < module.end; };
    Module module;
    if (std::any_of(known.begin(), known.end(), holds) || !find_module(pc, module)) continue;
    known.push_back(module);
    stacks.modules.push_back({module.bias, module.path});
  }
}

}  // namespace

wire::RawStacks thrown_stack(const distrun_error& error) {
  wire::RawStacks stacks;
  if (!has_stack(error)) return stacks;
  stacks.pid = ::getpid();
  wire::RawThread& thread = stacks.threads.emplace_back();
  char name[16] = {};
  ::prctl(PR_GET_NAME, name, 0, 0, 0);
  thread.tid = ::gettid();
  thread.name = name;
  thread.pcs.assign(error.pcs, error.pcs + std::min(error.pc_count, kPcsMax));
  add_modules(stacks, thread.pcs);
  return stacks;
}

}  // namespace distrun::rank
