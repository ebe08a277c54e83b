#include <distrun/runner/name_watch.hpp>

#include <unistd.h>

namespace distrun::runner {

void NameWatch::begin(const std::string& test) {
  if (!running_.empty()) suspect();
  running_.insert(test);
  since_quiet_.insert(test);
}

void NameWatch::end(const std::string& test) {
  running_.erase(running_.find(test));
  if (!running_.empty()) return;
  if (since_quiet_.size() > 1) {
    suspect();
    scan_.forget();
  }
  since_quiet_.clear();
}

std::vector<proc::NewName> NameWatch::look() {
  if (since_quiet_.size() <= 1) return scan_.look();
  suspect();
  return {};
}

void NameWatch::forget() {
  if (since_quiet_.size() <= 1) scan_.forget();
}

std::vector<proc::NewName> NameWatch::adopt() {
  if (since_quiet_.size() > 1) {
    suspect();
    return {};
  }
  std::vector<proc::NewName> names = scan_.look_at_all();
  scan_.forget();
  return names;
}

// What is there first when a test begins is not that test's.
void NameWatch::suspect() {
  for (const proc::NewName& name : scan_.look()) {
    if (!suspects_.contains(name.path)) suspects_[name.path] = since_quiet_;
  }
}

std::vector<NameWatch::Suspicion> NameWatch::suspicions() const {
  std::vector<Suspicion> found;
  for (const auto& [path, tests] : suspects_) {
    if (::access(path.c_str(), F_OK) == 0) found.push_back({path, tests});
  }
  return found;
}

}  // namespace distrun::runner
