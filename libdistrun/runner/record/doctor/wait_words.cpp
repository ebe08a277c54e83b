#include <distrun/runner/record/doctor/wait_words.hpp>

#include <algorithm>

#include <distrun/common/base/text.hpp>
#include <distrun/runner/evidence/stacks/frame_name.hpp>

namespace distrun::runner::doctor {
namespace {

bool waits_for_itself(const Graph& graph, const Thread& thread) {
  const Indices& next = thread.wait->next;
  return std::any_of(next.begin(), next.end(), [&](std::size_t each) { return &graph.threads[each] == &thread; });
}

// Returns " (train.cpp:88)".
std::string at(const Thread& thread) {
  if (thread.place.file.empty()) return "";
  const std::string file(evidence::file_of_path(thread.place.file));
  return " (" + base::one_line(file) + ":" + std::to_string(thread.place.line) + ")";
}

std::string waiting(const Graph& graph, const Thread& thread) {
  const Wait& wait = *thread.wait;
  const Thing& thing = graph.things[wait.thing];
  if (thing.kind == ThingKind::Mutex && waits_for_itself(graph, thread))
    return "waiting for a mutex that it already holds";
  if (thing.kind == ThingKind::Other && wait.call.empty()) return "";
  return (wait.call.empty() ? "waiting for " : "waiting in ") + waits_in(graph, thread) + at(thread);
}

}  // namespace

std::string waits_in(const Graph& graph, const Thread& thread) {
  const Wait& wait = *thread.wait;
  const Thing& thing = graph.things[wait.thing];
  const std::string name = base::one_line(thing.name);
  if (wait.on_board || wait.call.empty()) return name;
  const std::string call = base::one_line(wait.call);
  return thing.kind == ThingKind::Other ? call : call + " for " + name;
}

std::string condition_of(const Graph& graph, const Thread& thread) {
  switch (thread.doing) {
    case Doing::Spins: return "spinning";
    case Doing::Sleeps:
      return "sleeping" + (thread.call.empty() ? "" : " in " + base::one_line(thread.call)) + at(thread);
    case Doing::Traced: return "stopped by a debugger";
    case Doing::InKernel: return "in an uninterruptible sleep" + at(thread);
    case Doing::Waits: return thread.wait ? waiting(graph, thread) : "";
    default: return "";
  }
}

}  // namespace distrun::runner::doctor
