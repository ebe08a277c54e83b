#include <catch2/catch.hpp>

#include <distrun/common/base/sanitizer.hpp>

#include "fixtures/states.hpp"
#include "in_state.hpp"
#include "support/probe_client.hpp"

using namespace distrun;
using namespace distrun::testing;
using fixtures::State;

namespace {

constexpr std::chrono::milliseconds kAnswerLimit{5'000};
// The promise is about a plain build: a sanitizer makes the unwinding of deep stacks several times as slow.
constexpr std::chrono::milliseconds kGoal{base::kSanitized ? 5'000 : 1'000};

// Returns whether the parts occur in the functions in this order.
bool in_order(const std::vector<std::string>& functions, const std::vector<std::string>& parts) {
  std::size_t next = 0;
  for (const std::string& function : functions) {
    if (next < parts.size() && function.find(parts[next]) != std::string::npos) ++next;
  }
  return next == parts.size();
}

bool on_some_stack(const ProbeReply& reply, const wire::ProcessStacks& process, const std::string& function) {
  for (std::size_t i = 1; i < process.threads.size(); ++i) {
    if (reply.has_function(process.threads[i], function)) return true;
  }
  return false;
}

bool somebody_waits_for(const wire::ProcessStacks& process, const std::string& part) {
  for (const wire::ThreadStack& thread : process.threads) {
    if (!thread.waits_for.empty() && thread.waits_for.find(part) != std::string::npos) return true;
  }
  return false;
}

void check_kernel_view(const State& state, const wire::ProcessStacks& view) {
  REQUIRE_FALSE(view.threads.empty());
  const wire::TaskState& task = view.threads.front().task;
  if (state.task_state != '\0') CHECK(task.state == static_cast<std::uint8_t>(state.task_state));
  CHECK(task.tid == view.pid);
  CHECK_FALSE(task.name.empty());
  CHECK(task.syscall.starts_with(state.syscall));
  if (state.wchan) CHECK_FALSE(task.wchan.empty());
  if (state.kernel_stack) CHECK_FALSE(task.kernel_stack.empty());
}

void check_stacks(const State& state, const ProbeReply& reply, const wire::ProcessStacks& process) {
  const wire::ThreadStack& main_thread = process.threads.front();
  CHECK(in_order(reply.functions(main_thread), state.main_stack));
  CHECK(main_thread.why_none == state.why_none);
  CHECK(main_thread.frames.empty() == !state.why_none.empty());
  CHECK((main_thread.gap_after >= 0) == state.gap);
  CHECK(process.threads.size() >= state.threads);
  for (const std::string& function : state.other_stacks) CHECK(on_some_stack(reply, process, function));
  if (!state.waits_for.empty()) CHECK(somebody_waits_for(process, state.waits_for));
  if (state.waits_for.empty()) CHECK_FALSE(somebody_waits_for(process, ""));
  for (const wire::ThreadStack& thread : process.threads) {
    if (state.complete) CHECK_FALSE(thread.incomplete);
  }
}

}  // namespace

TEST_CASE("every state is reported within a second, with its expected details") {
  const std::vector<State> states = fixtures::all_states();
  const State& state = states[static_cast<std::size_t>(GENERATE_COPY(range(0, static_cast<int>(states.size()))))];
  const InState subject(state.mode, state.build);
  if (state.task_state != '\0') REQUIRE(subject.reaches(state.task_state, state.wchan));

  wire::ProbeOrder order;
  order.pids = {subject.pid()};
  const ProbeReply reply = ask_probe(order, kAnswerLimit);
  INFO(state.mode << " of build " << static_cast<int>(state.build) << ": " << reply.text());
  REQUIRE(reply.done);
  CHECK(reply.done->error.empty());
  CHECK(reply.took < kGoal);
  REQUIRE(reply.first_views.size() == 1);
  check_kernel_view(state, reply.first_views.front());
  const wire::ProcessStacks& process = reply.processes.at(0);
  CHECK(process.pid == subject.pid());
  CHECK(process.why_none == state.why_no_process);
  if (state.why_no_process.empty()) check_stacks(state, reply, process);
}
