#include <distrun/runner/attempt/name_watch.hpp>

#include <algorithm>

#include <distrun/runner/proc/cuda_names.hpp>

namespace distrun::runner {
namespace {

bool is_held(const proc::NewName& name, const std::vector<base::HeldName>& held) {
  return name.is_path() && std::any_of(held.begin(), held.end(), [&](const base::HeldName& each) {
           return each.path == name.path && each.device == name.device && each.inode == name.inode;
         });
}

bool was_used_by(const proc::NewName& name, const std::set<pid_t>& pids) {
  return std::any_of(name.object.pids.begin(), name.object.pids.end(),
                     [&](pid_t pid) { return pid > 0 && pids.contains(pid); });
}

}  // namespace

NameWatch::NameWatch(const proc::RunPlaces& places, bool files)
    : scan_(places, files), run_id_(places.run_id), first_(scan_.mark()) {}

NameWatch::Mark NameWatch::begin(const std::string& test) {
  if (!running_.empty()) suspect();
  running_.insert(test);
  since_quiet_.insert(test);
  return scan_.mark();
}

void NameWatch::end(const std::string& test) {
  running_.erase(running_.find(test));
  if (!running_.empty()) return;
  if (since_quiet_.size() > 1) suspect();
  since_quiet_.clear();
}

bool NameWatch::carries_run_id(const proc::NewName& name) const {
  return name.is_path() && name.path.find(run_id_) != std::string::npos;
}

std::vector<proc::NewName> NameWatch::names_of(Mark since, const Traces& traces) {
  if (since_quiet_.size() > 1) suspect();
  std::vector<proc::NewName> found;
  for (proc::NewName& name : scan_.since(since)) {
    const bool tagged = carries_run_id(name) && !suspects_.contains(name.path);
    const bool proven = tagged || is_held(name, traces.held) || was_used_by(name, traces.pids) ||
                        proc::is_cuda_name_of(name.path, traces.pids);
    if (proven && !is_given(name)) found.push_back(std::move(name));
  }
  return found;
}

void NameWatch::removed(const proc::NewName& name) {
  scan_.removed(name);
  given_.erase({name.path, name.inode});
  suspects_.erase(name.path);
}

// A name that exists when a second test begins cannot be that test's.
void NameWatch::suspect() {
  for (const proc::NewName& name : scan_.since(first_)) {
    if (carries_run_id(name) && !is_given(name)) suspects_.emplace(name.path, since_quiet_);
  }
}

std::vector<NameWatch::Suspicion> NameWatch::suspicions() {
  std::vector<Suspicion> found;
  for (const proc::NewName& name : scan_.since(first_)) {
    const auto suspect = suspects_.find(name.path);
    if (suspect != suspects_.end() && !is_given(name)) found.push_back({name.path, suspect->second});
  }
  return found;
}

std::vector<std::string> NameWatch::strangers() {
  std::vector<std::string> found;
  for (const proc::NewName& name : scan_.since(first_)) {
    const bool in_use = name.object.attached > 0;
    if (!is_given(name) && !carries_run_id(name) && !in_use) found.push_back(name.path);
  }
  if (found.empty()) return found;
  const std::set<std::string> in_use = proc::names_in_use(directories());
  std::erase_if(found, [&](const std::string& path) { return in_use.contains(path); });
  return found;
}

std::vector<std::string> NameWatch::directories() const {
  std::vector<std::string> all;
  for (const proc::LeakScan::Watched& watched : scan_.watched()) all.push_back(watched.directory);
  return all;
}

}  // namespace distrun::runner
