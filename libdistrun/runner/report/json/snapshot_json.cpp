#include <distrun/runner/report/json/snapshot_json.hpp>

#include <algorithm>
#include <string>

namespace distrun::report {
namespace {

const char* name_of(wire::Motion motion) noexcept {
  switch (motion) {
    case wire::Motion::Unknown: return "unknown";
    case wire::Motion::Waiting: return "waiting";
    case wire::Motion::Spinning: return "spinning";
    case wire::Motion::Moving: return "moving";
    case wire::Motion::Running: return "running";
  }
  return "unknown";
}

const char* name_of(board::PeerRule rule) noexcept {
  switch (rule) {
    case board::PeerRule::None: return "none";
    case board::PeerRule::All: return "all";
    case board::PeerRule::Any: return "any";
  }
  return "none";
}

template <class Items, class Write>
void write_list(JsonWriter& out, const char* name, const Items& items, Write write) {
  out.key(name);
  out.begin_array();
  for (const auto& item : items) write(item);
  out.end_array();
}

template <class Numbers>
void write_numbers(JsonWriter& out, const char* name, const Numbers& numbers) {
  write_list(out, name, numbers, [&](const auto number) { out.value(static_cast<std::int64_t>(number)); });
}

// Times of other hosts are not exact: an event may seem to lie in the future.
base::Nanoseconds since(std::int64_t at_ns, std::int64_t now_ns) {
  return base::Nanoseconds(std::max<std::int64_t>(now_ns - at_ns, 0));
}

void write_wait(JsonWriter& out, const board::ShownWait& wait, std::int64_t now_ns) {
  out.begin_object();
  out.field("kind", board::name_of(wait.kind));
  out.field("name", wait.name);
  out.field("id", wait.id);
  out.field("rule", name_of(wait.rule));
  write_numbers(out, "peers", wait.peers);
  out.field("in_body", wait.in_body);
  out.field("since_ms", since(wait.since_ns, now_ns));
  out.field("file", wait.file);
  out.field("line", wait.line);
  out.end_object();
}

void write_operation(JsonWriter& out, const board::ShownOperation& operation, std::int64_t now_ns) {
  out.begin_object();
  out.field("number", operation.number);
  out.field("kind", board::name_of(operation.kind));
  out.field("name", operation.name);
  out.field("id", operation.id);
  out.field_if(operation.peer >= 0, "peer", operation.peer);
  out.field("ago_ms", since(operation.at_ns, now_ns));
  out.end_object();
}

void write_view(JsonWriter& out, const runner::RankView& view, std::int64_t now_ns) {
  out.begin_object();
  out.field("rank", view.rank);
  if (view.shown) {
    out.field("phase", wire::name_of(view.shown->phase));
    out.field("epoch", view.shown->epoch);
    write_list(out, "waits", view.shown->waits, [&](const auto& wait) { write_wait(out, wait, now_ns); });
    write_list(out, "operations", view.shown->operations,
               [&](const auto& each) { write_operation(out, each, now_ns); });
  }
  out.end_object();
}

void write_frame(JsonWriter& out, const wire::StackFrame& frame) {
  out.begin_object();
  out.field("function", frame.function);
  out.field("file", frame.file);
  out.field("line", frame.line);
  out.field("module", frame.module);
  out.field("offset", frame.offset);
  out.field("inlined", frame.inlined);
  out.field("signal_frame", frame.signal_frame);
  out.end_object();
}

void write_thread(JsonWriter& out, const wire::ThreadStack& thread) {
  out.begin_object();
  out.field("tid", thread.task.tid);
  out.field("name", thread.task.name);
  out.field("state", std::string(1, static_cast<char>(thread.task.state)));
  out.field("wchan", thread.task.wchan);
  out.field("syscall", thread.task.syscall);
  out.field("kernel_stack", thread.task.kernel_stack);
  out.field("motion", name_of(thread.motion));
  out.field("waits_for", thread.waits_for);
  out.field("crashed", thread.crashed);
  out.field("incomplete", thread.incomplete);
  out.field("why_none", thread.why_none);
  out.field_if(thread.gap_after >= 0, "gap_after", thread.gap_after);
  write_numbers(out, "frames", thread.frames);
  out.end_object();
}

void write_source(JsonWriter& out, const evidence::Source& source) {
  out.begin_object();
  out.field("name", source.name);
  out.field("answered", source.answered);
  out.field("why_not", source.why_not);
  out.end_object();
}

void write_process(JsonWriter& out, const evidence::Process& process, const base::RankHosts& hosts) {
  out.begin_object();
  out.field("rank", process.rank);
  if (process.of_rank >= 0) {
    out.field("of_rank", process.of_rank);
    out.field("command", process.command);
  }
  out.field("pid", process.pid);
  const std::string& host = hosts.of(process.rank >= 0 ? process.rank : process.of_rank);
  if (!host.empty()) out.field("host", host);
  out.field("why_none", process.why_none);
  write_list(out, "sources", process.sources, [&](const auto& each) { write_source(out, each); });
  write_list(out, "threads", process.threads, [&](const auto& each) { write_thread(out, each); });
  out.end_object();
}

}  // namespace

void write_snapshot_fields(JsonWriter& out, const runner::Snapshot& snapshot) {
  out.field("why", name_of(snapshot.kind));
  out.field("at_ms", snapshot.at);
  out.field("took_ms", snapshot.took);
  write_list(out, "text", snapshot.text, [&](const auto& line) { out.value(evidence::plain(line)); });
  write_list(out, "ranks", snapshot.ranks, [&](const auto& view) { write_view(out, view, snapshot.at_ns); });
  write_list(out, "processes", snapshot.stacks.processes,
             [&](const auto& each) { write_process(out, each, snapshot.hosts); });
  write_list(out, "frames", snapshot.stacks.table, [&](const auto& each) { write_frame(out, each); });
}

void write_snapshots(JsonWriter& out, const std::vector<runner::Snapshot>& snapshots) {
  out.begin_array();
  for (const runner::Snapshot& snapshot : snapshots) {
    out.begin_object();
    write_snapshot_fields(out, snapshot);
    out.end_object();
  }
  out.end_array();
}

}  // namespace distrun::report
