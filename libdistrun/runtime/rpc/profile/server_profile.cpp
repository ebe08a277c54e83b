#include <distrun/runtime/rpc/profile/server_profile.hpp>

#include <algorithm>
#include <atomic>
#include <map>

#include <distrun/runtime/core/rank_state.hpp>
#include <distrun/runtime/profiler/tree.hpp>
#include <distrun/runtime/rpc/functions/register_class.hpp>

namespace distrun::rpc {
namespace {

using Profile = ServerProcessGlobalProfile;

std::atomic<int> profiles_on{0};

struct On {
  const core::RankState* rank;
  std::shared_ptr<ServerEvents> events;
};
struct AllOn {
  std::mutex mutex;
  std::vector<On> all;  // guarded by mutex; in the order of enter()
};
AllOn& all_on() {
  static auto* const only = new AllOn;
  return *only;
}

// Takes PyTorch's options; all may be omitted.
std::shared_ptr<Profile> make(std::optional<bool> record_shapes, std::optional<bool> profile_memory,
                              std::optional<bool> use_cuda) {
  profiler::ProfileOptions options;
  options.record_shapes = record_shapes.value_or(false);
  options.profile_memory = profile_memory.value_or(false);
  options.device_time = use_cuda.value_or(false);
  return std::make_shared<Profile>(options);
}

[[maybe_unused]] const bool is_made_by_name =
    register_function("ServerProcessGlobalProfile", {"record_shapes", "profile_memory", "use_cuda"}, &make);
[[maybe_unused]] const auto profile_class = RegisterClass<Profile>("ServerProcessGlobalProfile")
                                                .method("enter", &Profile::enter)
                                                .method("exit", &Profile::leave)
                                                .method("key_averages", &Profile::table);

}  // namespace

void ServerEvents::add(const profiler::Events& events) {
  const std::lock_guard lock(mutex_);
  const std::size_t room = options_.limit - std::min(options_.limit, events_.size());
  events_.insert(events_.end(), events.begin(),
                 events.begin() + static_cast<std::ptrdiff_t>(std::min(room, events.size())));
}

std::vector<profiler::Events> ServerEvents::by_thread() const {
  std::map<std::int32_t, profiler::Events> threads;
  {
    const std::lock_guard lock(mutex_);
    for (const profiler::Event& each : events_) threads[each.thread].push_back(each);
  }
  std::vector<profiler::Events> lists;
  for (auto& [thread, events] : threads) {
    std::stable_sort(events.begin(), events.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
    profiler::build_tree(events);
    lists.push_back(std::move(events));
  }
  return lists;
}

bool is_server_profiled() noexcept { return profiles_on.load(std::memory_order_relaxed) != 0; }

std::vector<std::shared_ptr<ServerEvents>> server_profiles_of(const core::RankState& rank) {
  std::vector<std::shared_ptr<ServerEvents>> found;
  if (!is_server_profiled()) return found;
  AllOn& on = all_on();
  const std::lock_guard lock(on.mutex);
  for (const On& each : on.all) {
    if (each.rank == &rank) found.push_back(each.events);
  }
  return found;
}

ServerProcessGlobalProfile::ServerProcessGlobalProfile(const profiler::ProfileOptions& options)
    : events_(std::make_shared<ServerEvents>(options)) {}

void ServerProcessGlobalProfile::enter() {
  AllOn& on = all_on();
  const std::lock_guard lock(on.mutex);
  if (std::any_of(on.all.begin(), on.all.end(), [&](const On& each) { return each.events == events_; })) return;
  on.all.push_back({&core::rank_state(), events_});
  profiles_on.store(static_cast<int>(on.all.size()), std::memory_order_relaxed);
}

void ServerProcessGlobalProfile::leave() noexcept {
  AllOn& on = all_on();
  const std::lock_guard lock(on.mutex);
  std::erase_if(on.all, [&](const On& each) { return each.events == events_; });
  profiles_on.store(static_cast<int>(on.all.size()), std::memory_order_relaxed);
}

profiler::Averages ServerProcessGlobalProfile::key_averages(profiler::GroupBy group) const {
  profiler::Events all;
  for (const profiler::Events& each : process_global_function_events()) all.insert(all.end(), each.begin(), each.end());
  return profiler::key_averages(all, group);
}

}  // namespace distrun::rpc
