#include <distrun/runner/launch/helper_stacks.hpp>

#include <utility>
#include <vector>

#include <distrun/common/base/sanitizer.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/runner/evidence/stacks/merge.hpp>
#include <distrun/runner/evidence/stacks/tree_text.hpp>
#include <distrun/runner/proc/process_tree.hpp>

namespace distrun::launch {
namespace {

constexpr std::size_t kLinesMax = 60;

// A helper may be blocked by what it has forked, such as an intermediate in a handler of pthread_atfork().
std::vector<StackCollector::Target> targets_of(pid_t helper) {
  std::vector<StackCollector::Target> targets{{-1, helper}};
  for (const pid_t child : proc::children_of(helper)) targets.push_back({-1, child});
  return targets;
}

StackOrder order() {
  StackOrder order;
  order.bound = std::chrono::seconds(base::kSanitized ? 4 : 1);
  return order;
}

std::string text_of(const evidence::Stacks& stacks) {
  evidence::TreeLimits limits;
  limits.lines = kLinesMax;
  std::string text;
  for (const evidence::Line& line : evidence::tree_text(stacks, evidence::merge(stacks), limits)) {
    text += "\n  | " + evidence::plain(line);
  }
  return text;
}

}  // namespace

HelperStacks::HelperStacks(io::Loop& loop, const Probe::Program& probe, pid_t helper,
                           std::function<void(std::string)> on_text)
    : collector_(std::make_unique<StackCollector>(
          loop, probe, targets_of(helper), order(), [](int) { return false; },
          [alive = std::weak_ptr(alive_), on_text = std::move(on_text)](const evidence::Stacks& stacks) {
            if (!alive.expired()) on_text(text_of(stacks));
          })) {}

HelperStacks::HelperStacks(io::Loop& loop, const Probe::Program& probe, wire::RawStacks raw,
                           std::function<void(std::string)> on_text) {
  wire::ProbeOrder names;
  names.raw.push_back(std::move(raw));
  naming_ =
      std::make_unique<Probe>(loop, probe, names, order().bound, [on_text = std::move(on_text)](ProbeResult result) {
        for (evidence::Process& each : result.stacks.processes) {
          each.sources.push_back({"crash handler", true, result.error});
        }
        on_text(text_of(result.stacks));
      });
}

std::string describe_crash(const proc::ExitStatus& status, const std::optional<board::Dump>& dump,
                           const std::string& when) {
  if (!dump || dump->exception_type.empty()) return status.describe() + " " + when;
  const std::string text = base::printable(dump->exception_text);
  return "threw " + base::printable(dump->exception_type) + " " + when + (text.empty() ? "" : ": " + text);
}

}  // namespace distrun::launch
