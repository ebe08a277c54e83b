#include <distrun/runtime/rpc/profile/served_profile.hpp>

#include <distrun/runtime/profiler/recorder.hpp>
#include <distrun/runtime/profiler/remote_events.hpp>
#include <distrun/runtime/rpc/profile/server_profile.hpp>

namespace distrun::rpc {
namespace {

using profiler::ProfileOptions;

constexpr std::size_t kQuickBytes = 64 * 1024;

ProfileOptions both(const ProfileOptions& a, const ProfileOptions& b) {
  ProfileOptions options;
  options.record_shapes = a.record_shapes || b.record_shapes;
  options.profile_memory = a.profile_memory || b.profile_memory;
  options.device_time = a.device_time || b.device_time;
  return options;
}

}  // namespace

bool ServedProfile::is_wanted(const Message& call) noexcept {
  return is_server_profiled() || find_section(call, SectionTag::Profiler) != nullptr;
}

bool brings_many_events(const Message& answer) noexcept {
  const Section* const section = find_section(answer, SectionTag::Profiler);
  return section != nullptr && section->bytes.size() > kQuickBytes;
}

std::shared_ptr<ServedProfile> ServedProfile::of(const Message& call, const core::RankState& rank, WorkerId self) {
  if (!is_wanted(call)) return nullptr;
  std::shared_ptr<ServedProfile> served(new ServedProfile);
  ProfileOptions options;
  if (const Section* const section = find_section(call, SectionTag::Profiler)) {
    const auto wanted = profiler::decode_options(wire::view_of(section->bytes));
    served->is_for_caller_ = wanted.has_value();
    options = wanted.value_or(options);
  }
  served->for_rank_ = server_profiles_of(rank);
  for (const auto& each : served->for_rank_) options = both(options, each->options());
  if (!served->is_for_caller_ && served->for_rank_.empty()) return nullptr;
  options.limit = profiler::kRemoteLimit;
  served->recorder_ = std::make_shared<const profiler::Recorder>(options, self);
  return served;
}

ServedProfile::~ServedProfile() = default;

std::shared_ptr<const void> ServedProfile::recorder() const noexcept { return recorder_; }

void ServedProfile::end(Message& answer) noexcept {
  if (!recorder_->is_open()) return;
  recorder_->close();
  try {
    const profiler::Events events = recorder_->events();
    for (const auto& each : for_rank_) each->add(events);
    if (!is_for_caller_) return;
    answer.sections.push_back({SectionTag::Profiler, profiler::encode_events(events, recorder_->not_kept())});
  } catch (const std::exception&) {
    return;  // no memory: the answer matters more than its profile
  }
}

}  // namespace distrun::rpc
