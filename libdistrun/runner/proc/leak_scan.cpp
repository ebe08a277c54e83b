#include <distrun/runner/proc/leak_scan.hpp>

#include <dirent.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <optional>
#include <utility>

namespace distrun::proc {
namespace {

constexpr std::int64_t kTickNs = 20'000'000;  // longer than a timer tick of any kernel

std::int64_t ns_of(const timespec& time) { return time.tv_sec * 1'000'000'000LL + time.tv_nsec; }

std::int64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return ns_of(now);
}

// Matches the run's own directory, and names that other runs on this machine have created and will remove.
bool is_of_a_run(const std::string& name, const std::string& own_name) {
  return name == own_name || (name.starts_with("distrun-") && !name.starts_with(own_name));
}

NameKind kind_of(SystemVKind kind) {
  switch (kind) {
    case SystemVKind::Segment: return NameKind::SharedMemory;
    case SystemVKind::Semaphores: return NameKind::Semaphores;
    case SystemVKind::Queue: return NameKind::Queue;
  }
  return NameKind::SharedMemory;
}

// Describes the file at a path; empty if it no longer exists.
std::optional<NewName> name_at(const std::string& path, bool shared_memory) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return std::nullopt;
  const NameKind kind = S_ISSOCK(status.st_mode) ? NameKind::Socket
                        : shared_memory          ? NameKind::SharedMemory
                                                 : NameKind::File;
  return NewName{kind, path, status.st_uid, status.st_dev, status.st_ino};
}

}  // namespace

std::vector<NewName> names_in(const std::string& directory) {
  std::vector<NewName> names;
  DIR* entries = ::opendir(directory.c_str());
  while (const dirent* entry = entries == nullptr ? nullptr : ::readdir(entries)) {
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (auto found = name_at(directory + "/" + name, false)) names.push_back(std::move(*found));
  }
  if (entries != nullptr) ::closedir(entries);
  return names;
}

std::set<std::string> names_in_use(const std::vector<std::string>& directories) {
  std::set<std::string> names;
  DIR* processes = ::opendir("/proc");
  while (const dirent* entry = processes == nullptr ? nullptr : ::readdir(processes)) {
    if (entry->d_name[0] < '0' || entry->d_name[0] > '9') continue;
    for (base::HeldName& held : base::held_names(entry->d_name, directories)) names.insert(std::move(held.path));
  }
  if (processes != nullptr) ::closedir(processes);
  return names;
}

LeakScan::LeakScan(const RunPlaces& places, bool files) : files_(files), own_name_("distrun-" + places.run_id) {
  std::set<std::string> seen;
  for (const std::string& directory : {std::string("/dev/shm"), places.temp_dir, places.start_dir}) {
    if (seen.insert(directory).second) places_.push_back({directory, directory == "/dev/shm", {}, -1, false});
  }
  refresh();
}

bool LeakScan::unchanged(WatchedPlace& place) {
  struct stat status {};
  if (::stat(place.directory.c_str(), &status) != 0) return true;
  const std::int64_t modified = ns_of(status.st_mtim);
  if (modified == place.modified_ns && place.settled) return true;
  place.modified_ns = modified;
  place.settled = now_ns() - modified > kTickNs;
  return false;
}

// A different inode means a new file of the same name.
void LeakScan::read(WatchedPlace& place) {
  DIR* directory = ::opendir(place.directory.c_str());
  if (directory == nullptr) return;
  std::map<std::string, Entry> entries;
  while (const dirent* entry = ::readdir(directory)) {
    const auto old = place.entries.find(entry->d_name);
    const bool known = old != place.entries.end() && old->second.inode == entry->d_ino;
    entries.emplace(entry->d_name, Entry{entry->d_ino, known ? old->second.seen : now_});
  }
  ::closedir(directory);
  place.entries = std::move(entries);
}

void LeakScan::refresh() {
  for (WatchedPlace& place : places_) {
    if (!unchanged(place)) read(place);
  }
}

LeakScan::Mark LeakScan::mark() {
  refresh();
  for (const SystemVObject& object : system_v_objects()) objects_.emplace(std::pair(object.kind, object.id), now_);
  return now_++;
}

std::vector<NewName> LeakScan::since(Mark mark) {
  refresh();
  std::vector<NewName> found;
  for (const WatchedPlace& place : places_) add_names(place, mark, found);
  add_objects(mark, found);
  return found;
}

void LeakScan::removed(const NewName& name) {
  if (!name.is_path()) {
    std::erase_if(objects_,
                  [&](const auto& object) { return object.first == std::pair(name.object.kind, name.object.id); });
    return;
  }
  const std::size_t slash = name.path.rfind('/');
  for (WatchedPlace& place : places_) {
    if (place.directory == name.path.substr(0, slash)) place.entries.erase(name.path.substr(slash + 1));
  }
}

void LeakScan::add_names(const WatchedPlace& place, Mark mark, std::vector<NewName>& found) const {
  for (const auto& [name, entry] : place.entries) {
    if (entry.seen <= mark || is_of_a_run(name, own_name_)) continue;
    auto there = name_at(place.directory + "/" + name, place.shared_memory);
    if (!there || there->owner != ::geteuid()) continue;
    if (files_ || there->kind != NameKind::File) found.push_back(std::move(*there));
  }
}

void LeakScan::add_objects(Mark mark, std::vector<NewName>& found) {
  for (SystemVObject& object : system_v_objects()) {
    const Mark seen = objects_.emplace(std::pair(object.kind, object.id), now_).first->second;
    if (seen <= mark || object.owner != ::geteuid()) continue;
    found.push_back({kind_of(object.kind), object.describe(), object.owner, 0, 0, std::move(object)});
  }
}

std::vector<LeakScan::Watched> LeakScan::watched() const {
  std::vector<Watched> all;
  for (const WatchedPlace& place : places_) all.push_back({place.directory, place.settled ? place.modified_ns : -1});
  return all;
}

}  // namespace distrun::proc
