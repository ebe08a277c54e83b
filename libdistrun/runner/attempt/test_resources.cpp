#include <distrun/runner/attempt/test_resources.hpp>

#include <sys/stat.h>

#include <iterator>
#include <utility>

#include <distrun/runner/proc/cuda_names.hpp>
#include <distrun/runner/proc/run_files.hpp>

namespace distrun::runner {
namespace {

LeakKind kind_of(proc::NameKind kind) {
  switch (kind) {
    case proc::NameKind::SharedMemory: return LeakKind::SharedMemory;
    case proc::NameKind::Socket: return LeakKind::Socket;
    case proc::NameKind::File: return LeakKind::File;
    case proc::NameKind::Semaphores: return LeakKind::Semaphores;
    case proc::NameKind::Queue: return LeakKind::Queue;
  }
  return LeakKind::File;
}

// The kernel knows a segment's creator, but only the last users of semaphores and queues, who may not be creators.
bool is_made_by_rank(const proc::NewName& name) {
  return !name.is_path() && name.object.kind == proc::SystemVKind::Segment;
}

bool exists(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0;
}

}  // namespace

Leak leak_of(const proc::NewName& name, bool ours) {
  Leak leak{kind_of(name.kind), name.path, false};
  if (!ours) return leak;
  if (!name.is_path()) {
    leak.removed = proc::remove_system_v(name.object);
    return leak;
  }
  const std::string why_not = proc::remove_tree(name.path);
  leak.removed = why_not.empty();
  if (!leak.removed) leak.what = why_not;
  return leak;
}

std::vector<Leak> leaks_among(const std::vector<proc::NewName>& made, NameWatch& names) {
  std::vector<Leak> leaks;
  for (const proc::NewName& name : made) {
    if (!name.is_path() || !exists(name.path)) continue;
    leaks.push_back(leak_of(name, names.carries_run_id(name)));
    if (leaks.back().removed) names.removed(name);
  }
  return leaks;
}

TestResources::TestResources(NameWatch& names, const WorkDirs* dirs, const PrivateTmp* private_tmp,
                             const std::string& test)
    : names_(names), dirs_(dirs), private_tmp_(private_tmp), test_(test), since_(names.begin(test)) {}

TestResources::~TestResources() { names_.end(test_); }

void TestResources::add_held(std::vector<base::HeldName> names) {
  std::move(names.begin(), names.end(), std::back_inserter(traces_.held));
}

std::vector<proc::NewName> TestResources::left_names() {
  std::vector<proc::NewName> found = names();
  std::erase_if(found, [&](const proc::NewName& name) {
    const bool is_removed =
        name.is_path() && proc::is_cuda_name_of(name.path, traces_.pids) && proc::remove_tree(name.path).empty();
    if (is_removed) names_.removed(name);
    return is_removed;
  });
  return found;
}

std::vector<proc::NewName> TestResources::left_in_tmp() const {
  return dirs_ == nullptr ? std::vector<proc::NewName>{} : dirs_->left_in_tmp();
}

std::vector<PrivateTmp::Left> TestResources::left_in_private() const {
  if (private_tmp_ == nullptr) return {};
  std::vector<PrivateTmp::Left> left = private_tmp_->left();
  std::erase_if(left, [&](const PrivateTmp::Left& each) {
    return proc::is_cuda_name_of(each.seen_as, traces_.pids) && proc::remove_tree(each.name.path).empty();
  });
  return left;
}

std::vector<Leak> TestResources::tell() {
  std::vector<Leak> leaks;
  for (const proc::NewName& name : left_in_tmp()) leaks.push_back(leak_of(name, !dirs_->kept()));
  for (const PrivateTmp::Left& each : left_in_private()) {
    leaks.push_back(leak_of(each.name, dirs_ == nullptr || !dirs_->kept()));
    Leak& leak = leaks.back();
    leak.what = leak.removed ? each.seen_as + " (private)" : leak.what + " (the private " + each.seen_as + ")";
  }
  for (const proc::NewName& name : left_names()) {
    leaks.push_back(leak_of(name, names_.carries_run_id(name) || is_made_by_rank(name)));
    leaks.back().removed ? names_.removed(name) : names_.give(name);
  }
  return leaks;
}

}  // namespace distrun::runner
