#include <distrun/runtime/rpc/profile/profiled_call.hpp>

#include <utility>

#include <distrun/runtime/profiler/record.hpp>
#include <distrun/runtime/profiler/recorder.hpp>
#include <distrun/runtime/profiler/remote_events.hpp>
#include <distrun/runtime/rpc/profile/served_profile.hpp>

namespace distrun::rpc {
namespace {

const char* name_of(CallMode mode) noexcept {
  switch (mode) {
    case CallMode::Sync: return "rpc_sync";
    case CallMode::Async: return "rpc_async";
    case CallMode::Remote: return "rpc_remote";
  }
  return "";
}

// Returns whether parts of the runtime call each other by this name, as passes of distributed autograd do: the work for
// such calls continues after they are answered.
bool is_of_runtime(std::string_view callee) noexcept { return callee.starts_with("distrun."); }

// Errors are not reported to the profile; the events count as lost.
void add_answer(const profiler::Recorder& recorder, const profiler::CalledWorker& worker,
                const Message& answer) noexcept {
  const Section* const section = find_section(answer, SectionTag::Profiler);
  if (section == nullptr) return;
  try {
    profiler::add_remote_events(recorder, worker, wire::view_of(section->bytes));
  } catch (const std::exception&) {
    recorder.lose(1);
  }
}

}  // namespace

std::string profiling_key(CallMode mode, std::string_view callee, std::string_view from, std::string_view to) {
  std::string name = name_of(mode);
  name += '#';
  name += callee;
  name += '(';
  name += from;
  name += " -> ";
  name += to;
  name += ')';
  return name;
}

ProfiledCall::ProfiledCall(std::unique_ptr<profiler::Record> record, WorkerId to)
    : key_(record->event.name), to_(to), record_(std::move(record)) {}

ProfiledCall::~ProfiledCall() = default;

std::shared_ptr<ProfiledCall> ProfiledCall::begin(const CallHead& head, CallMode mode, const WorkerInfo& from,
                                                  const WorkerInfo& to, std::vector<Section>& sections) {
  const profiler::ProfileOptions* const wanted = profiler::Record::wanted();
  if (wanted == nullptr || !wanted->with_rpc) return nullptr;
  const std::string callee = (head.kind == CalleeKind::Operator ? "aten::" : "") + head.name;
  auto record = profiler::Record::begin(profiling_key(mode, callee, from.name(), to.name()));
  if (record == nullptr) return nullptr;  // it has ended meanwhile, on another thread
  record->event.node = from.id();
  record->event.is_async = mode != CallMode::Sync;
  record->is_waited_for = mode == CallMode::Sync;
  if (!is_of_runtime(head.name)) sections.push_back({SectionTag::Profiler, profiler::encode_options(*wanted)});
  return std::shared_ptr<ProfiledCall>(new ProfiledCall(std::move(record), to.id()));
}

void ProfiledCall::end(const Message* answer) noexcept {
  if (record_ == nullptr) return;
  const auto recorder = record_->recorder;
  profiler::CalledWorker worker{key_, to_, record_->event.begin, {}};
  worker.end = profiler::Record::end(std::move(record_));  // before the remote events, of which there may be too many
  if (answer != nullptr) add_answer(*recorder, worker, *answer);
}

}  // namespace distrun::rpc
