#include <distrun/runtime/collectives/groups.hpp>

#include <algorithm>
#include <mutex>
#include <numeric>
#include <set>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/process_mark.hpp>
#include <distrun/runtime/core/rank_state.hpp>
#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>

namespace distrun::collectives {
namespace {

// The groups of one rank.
class Groups {
 public:
  void add(const std::shared_ptr<ProcessGroup>& group) {
    const std::lock_guard lock(mutex_);
    std::erase_if(all_, [](const auto& each) { return each.expired(); });
    all_.push_back(group);
  }
  void set_default(std::shared_ptr<ProcessGroup> group) {
    const std::lock_guard lock(mutex_);
    default_ = std::move(group);
    has_default_.set();
  }
  // A forked process has its parent's object; its mutex may stay locked forever.
  void refuse_if_inherited(base::Location site) const {
    has_default_.check("the default process group",
                       "use it in the parent process, fork before init_process_group(), or exec() a program", site);
  }
  std::shared_ptr<ProcessGroup> get_default() const {
    if (has_default_.is_inherited()) return nullptr;
    const std::lock_guard lock(mutex_);
    return default_;
  }
  // Returns how many default groups were requested before.
  int count_world() noexcept {
    const std::lock_guard lock(mutex_);
    return worlds_++;
  }
  // Does not reset the count, so that the next default group has another name.
  void leave_all() {
    release();
    end_groups();
  }
  void keep() {
    std::vector<std::shared_ptr<ProcessGroup>> staying;
    {
      const std::lock_guard lock(mutex_);
      kept_ = all_;
      for (const auto& each : kept_) {
        if (auto group = each.lock()) staying.push_back(std::move(group));
      }
    }
    for (const auto& each : staying) each->prepare_to_stay();
  }
  void release() {
    const std::lock_guard lock(mutex_);
    kept_.clear();
  }
  void end_test() {
    if (has_default_.is_inherited()) return;
    // Kept groups still use the store, which is the same in the next test.
    if (end_groups() == 0) forget_worlds();
  }

 private:
  // Returns the number of kept groups.
  std::size_t end_groups() {
    std::vector<std::shared_ptr<ProcessGroup>> left, kept;
    std::shared_ptr<ProcessGroup> world;
    {
      const std::lock_guard lock(mutex_);
      for (const auto& each : all_) {
        if (auto group = each.lock()) (is_kept(group) ? kept : left).push_back(std::move(group));
      }
      all_.assign(kept.begin(), kept.end());
      if (default_ != nullptr && !is_kept(default_)) {
        world.swap(default_);
        has_default_.clear();
      }
    }
    for (const auto& each : left) each->leave();
    for (const auto& each : kept) each->settle();
    return kept.size();
  }
  void forget_worlds() noexcept {
    const std::lock_guard lock(mutex_);
    worlds_ = 0;
  }
  bool is_kept(const std::shared_ptr<ProcessGroup>& group) const {
    return std::any_of(kept_.begin(), kept_.end(), [&](const auto& each) { return each.lock() == group; });
  }

  base::ProcessMark has_default_{base::ProcessMark::Unset{}};
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::vector<std::weak_ptr<ProcessGroup>> all_;
  std::vector<std::weak_ptr<ProcessGroup>> kept_;  // a subset of all_
  std::shared_ptr<ProcessGroup> default_;
  int worlds_ = 0;
};

Groups& groups_of(core::RankState& rank) { return rank.part<Groups>(core::Part::Groups); }
Groups& groups() { return groups_of(core::rank_state()); }

std::shared_ptr<Store> own_store(const GroupInfo& info, const std::shared_ptr<Store>& store) {
  return std::make_shared<PrefixStore>(info.name, store);
}

std::shared_ptr<ProcessGroup> add(std::shared_ptr<ProcessGroup> group) {
  groups().add(group);
  return group;
}

std::shared_ptr<ProcessGroup> make_group(GroupInfo info, const std::shared_ptr<Store>& store,
                                         const GroupOptions& options) {
  auto own = own_store(info, store);
  return add(std::make_shared<ProcessGroup>(std::move(info), std::move(own), options));
}

// Returns true if the parent has the same backend and GPU.
bool is_like(const GroupOptions& options, const ProcessGroup& parent) {
  return options.backend == parent.backend() && options.gpu == parent.options().gpu;
}

std::string to_text(const std::vector<int>& numbers) {
  std::string text;
  for (const int number : numbers) text += (text.empty() ? "" : ", ") + std::to_string(number);
  return "[" + text + "]";
}

void check_places(const std::vector<int>& places, const ProcessGroup& of, base::Location site) {
  std::set<int> seen;
  for (const int place : places) {
    const bool is_there = place >= 0 && place < of.size();
    if (is_there && seen.insert(place).second) continue;
    throw Error(
        ErrorKind::InvalidArgument, "ValueError",
        "the new group's ranks " + to_text(places) + (is_there ? " have " : " are not all in group ") +
            (is_there ? std::to_string(place) + " twice" : of.name() + ", which has " + std::to_string(of.size())),
        site);
  }
}

// The first rank stores the members of the group; the others must name the same.
void check_agreement(Store& store, const std::string& name, const std::vector<int>& places, base::Location site) {
  const std::string own = to_text(places);
  const std::string first = store.compare_set(name + "/ranks", "", own);
  if (first == own) return;
  throw Error(ErrorKind::InvalidArgument, "ValueError",
              "ranks disagree on the members of group " + name + ": here it is " + own + ", elsewhere " + first +
                  "; all ranks must create the same groups in the same order",
              site);
}

std::shared_ptr<ProcessGroup> make_child(const std::string& name, const std::vector<int>& places, ProcessGroup& of,
                                         const std::optional<GroupOptions>& given, int colour, base::Location site) {
  const GroupOptions options = given.value_or(of.options());
  const auto own = std::find(places.begin(), places.end(), of.rank());
  if (own == places.end()) {
    if (is_like(options, of)) of.stay_out();
    return nullptr;
  }
  check_agreement(*of.store(), name, places, site);
  GroupInfo info;
  info.name = name;
  info.rank = static_cast<int>(own - places.begin());
  for (const int place : places) info.ranks.push_back(of.ranks()[static_cast<std::size_t>(place)]);
  if (!is_like(options, of)) return make_group(std::move(info), of.store(), options);
  auto store = own_store(info, of.store());
  return add(std::make_shared<ProcessGroup>(std::move(info), std::move(store), options, of, colour));
}

}  // namespace

std::shared_ptr<ProcessGroup> init_process_group(const WorldOptions& options, base::Location site) {
  groups().refuse_if_inherited(site);
  if (is_initialized()) {
    throw Error(ErrorKind::Failed, "trying to initialize the default process group twice!", site);
  }
  if (options.rank < 0 || options.rank >= options.world_size || options.store == nullptr) {
    throw Error(ErrorKind::InvalidArgument, "ValueError",
                "a process group needs a store and a rank below its world size, not rank " +
                    std::to_string(options.rank) + " of " + std::to_string(options.world_size),
                site);
  }
  const int made = groups().count_world();  // counts up the same way on all ranks
  GroupInfo info;
  info.name = "world";
  info.rank = options.rank;
  info.ranks.resize(static_cast<std::size_t>(options.world_size));
  std::iota(info.ranks.begin(), info.ranks.end(), 0);
  const auto store = made == 0 ? options.store : std::make_shared<PrefixStore>(std::to_string(made), options.store);
  auto world = make_group(std::move(info), store, options.group);
  groups().set_default(world);
  return world;
}

bool is_initialized() { return groups().get_default() != nullptr; }

std::shared_ptr<ProcessGroup> default_group(base::Location site) {
  groups().refuse_if_inherited(site);
  if (auto group = groups().get_default()) return group;
  throw Error(ErrorKind::Failed,
              "Default process group has not been initialized, please make sure to call init_process_group.", site);
}

void destroy_process_group() {
  const auto world = default_group();
  groups().leave_all();
}

std::shared_ptr<ProcessGroup> new_group(const std::vector<int>& places, ProcessGroup& of,
                                        std::optional<GroupOptions> options, base::Location site) {
  const int number = of.count_child();
  check_places(places, of, site);
  const std::string name = of.name() + "/" + std::to_string(number);
  return make_child(name, places, of, options, 0, site);
}

std::shared_ptr<ProcessGroup> new_group(const std::vector<int>& places, std::optional<GroupOptions> options,
                                        base::Location site) {
  return new_group(places, *default_group(site), std::move(options), site);
}

std::shared_ptr<ProcessGroup> split(ProcessGroup& of, int colour, int key, std::optional<GroupOptions> options,
                                    base::Location site) {
  const int number = of.count_child();
  const Tensor own = tensor::empty({2}, {DType::I64});
  own.data_as<std::int64_t>()[0] = colour;
  own.data_as<std::int64_t>()[1] = key;
  const Tensor gathered = tensor::empty({of.size(), 2}, {DType::I64, of.device()});
  of.all_gather_into(gathered, tensor::to(own, of.device()), {}, site).wait(of.host_wait(), site);
  const Tensor all = tensor::to(gathered, device::kCpu);
  const std::int64_t* const found = all.data_as<std::int64_t>();
  std::vector<int> places;
  for (int place = 0; place < of.size(); ++place) {
    if (found[2 * place] == colour) places.push_back(place);
  }
  std::stable_sort(places.begin(), places.end(), [&](int a, int b) { return found[2 * a + 1] < found[2 * b + 1]; });
  const std::string name = of.name() + "/" + std::to_string(number);
  if (colour < 0) places.clear();
  return make_child(name + "." + std::to_string(colour), places, of, options, colour, site);
}

void leave_groups(core::RankState& rank) { groups_of(rank).end_test(); }
void keep_groups(core::RankState& rank) { groups_of(rank).keep(); }
void release_groups(core::RankState& rank) { groups_of(rank).release(); }

}  // namespace distrun::collectives
