#include "probe_client.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <utility>

#include <distrun/common/base/fd.hpp>
#include <distrun/common/wire/frame.hpp>
#include <distrun/runner/proc/child.hpp>

namespace distrun::testing {
namespace {

using Clock = std::chrono::steady_clock;

proc::Child start_probe(const base::Fd& line, const std::vector<std::string>& wrapper) {
  std::vector<std::string> words = wrapper;
  words.emplace_back(DISTRUN_PROBE_PROGRAM);
  proc::ChildSpec spec;
  spec.program = words.front();
  spec.arguments.assign(words.begin() + 1, words.end());
  spec.environment = proc::inherited_environment();
  spec.descriptors = {{line.get(), 3}, {2, 2}};
  return proc::start_rank(spec);
}

void take(ProbeReply& reply, const wire::Frame& frame) {
  const wire::BytesView payload = wire::view_of(frame.payload);
  if (frame.is(wire::ProbeFrame::Table)) {
    const auto table = wire::decode<wire::StackTable>(payload);
    reply.frames.insert(reply.frames.end(), table.frames.begin(), table.frames.end());
  } else if (frame.is(wire::ProbeFrame::Process)) {
    auto process = wire::decode<wire::ProcessStacks>(payload);
    if (!reply.processes.contains(process.index)) reply.first_views.push_back(process);
    const std::int32_t index = process.index;
    reply.processes[index] = std::move(process);
  } else if (frame.is(wire::ProbeFrame::Done)) {
    reply.done = wire::decode<wire::ProbeDone>(payload);
  }
}

// Returns false at the end of the stream or at the deadline.
bool read_some(const base::Fd& line, wire::FrameSplitter& splitter, Clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  pollfd wait{line.get(), POLLIN, 0};
  if (left <= 0 || ::poll(&wait, 1, static_cast<int>(left)) <= 0) return false;
  std::array<std::byte, 64 << 10> buffer;
  const ssize_t got = ::recv(line.get(), buffer.data(), buffer.size(), 0);
  if (got > 0) splitter.feed(wire::view_of(buffer.data(), static_cast<std::size_t>(got)));
  return got > 0;
}

void send_order(const base::Fd& line, const wire::ProbeOrder& order) {
  const wire::Bytes bytes = wire::pack(wire::ProbeFrame::Order, 0, order);
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t count = ::send(line.get(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count <= 0) return;
    sent += static_cast<std::size_t>(count);
  }
}

std::string frame_text(const wire::StackFrame& frame) {
  std::string text = "      " + (frame.function.empty() ? "?" : frame.function);
  if (frame.inlined) text += " [inlined]";
  if (frame.signal_frame) text += " [signal]";
  if (!frame.file.empty()) text += " at " + frame.file + ":" + std::to_string(frame.line);
  return text + " in " + frame.module + "+" + std::to_string(frame.offset) + "\n";
}

std::string head_text(const wire::ThreadStack& thread) {
  std::string text = "  thread " + std::to_string(thread.task.tid) + " (" + thread.task.name + ") ";
  text += static_cast<char>(thread.task.state);
  text += " wchan=" + thread.task.wchan + " syscall=" + thread.task.syscall;
  text += " motion=" + std::to_string(static_cast<int>(thread.motion));
  if (!thread.why_none.empty()) text += " none: " + thread.why_none;
  if (!thread.waits_for.empty()) text += " waits for: " + thread.waits_for;
  if (thread.incomplete) text += " incomplete";
  if (thread.gap_after >= 0) text += " gap after " + std::to_string(thread.gap_after);
  if (!thread.task.kernel_stack.empty()) text += "\n    kernel: " + thread.task.kernel_stack;
  return text + "\n";
}

}  // namespace

std::vector<std::string> ProbeReply::functions(const wire::ThreadStack& thread) const {
  std::vector<std::string> names;
  for (const std::uint32_t index : thread.frames) names.push_back(frames.at(index).function);
  return names;
}

bool ProbeReply::has_function(const wire::ThreadStack& thread, const std::string& part) const {
  const std::vector<std::string> names = functions(thread);
  return std::any_of(names.begin(), names.end(),
                     [&part](const std::string& name) { return name.find(part) != std::string::npos; });
}

std::string ProbeReply::text() const {
  std::string text = "answered in " + std::to_string(took.count()) + " ms, ";
  text += done ? "done " + done->error : "NOT done";
  for (const auto& [index, process] : processes) {
    text += "\nprocess " + std::to_string(index) + ": " + std::to_string(process.pid) + " (" + process.command + ") " +
            process.why_none + "\n";
    for (const wire::ThreadStack& thread : process.threads) {
      text += head_text(thread);
      for (const std::uint32_t frame : thread.frames) text += frame_text(frames.at(frame));
    }
  }
  return text;
}

ProbeReply ask_probe(const wire::ProbeOrder& order, std::chrono::milliseconds limit,
                     const std::vector<std::string>& wrapper) {
  const auto begin = Clock::now();
  auto [ours, theirs] = base::make_socket_pair(SOCK_STREAM);
  const proc::Child probe = start_probe(theirs, wrapper);
  theirs.reset();
  send_order(ours, order);
  ProbeReply reply;
  wire::FrameSplitter splitter(wire::kProtocol<wire::ProbeFrame>);
  while (!reply.done && read_some(ours, splitter, begin + limit)) {
    while (const auto frame = splitter.next()) take(reply, *frame);
  }
  reply.took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin);
  ::kill(probe.pid, SIGKILL);
  ::waitpid(probe.pid, nullptr, 0);
  return reply;
}

}  // namespace distrun::testing
