#include <distrun/proc/leak_scan.hpp>

#include <dirent.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <utility>

namespace distrun::proc {
namespace {

constexpr std::int64_t kTickNs = 20'000'000;  // longer than a tick of any kernel

std::int64_t ns_of(const timespec& time) { return time.tv_sec * 1'000'000'000LL + time.tv_nsec; }

std::int64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return ns_of(now);
}

std::string link_target(const std::string& link) {
  char target[4096];
  const ssize_t size = ::readlink(link.c_str(), target, sizeof target);
  return size > 0 ? std::string(target, static_cast<std::size_t>(size)) : "";
}

bool is_or_is_below(const std::string& path, const std::string& top) {
  return path.starts_with(top) && (path.size() == top.size() || path[top.size()] == '/');
}

bool has_open(const std::string& process, const std::string& path) {
  if (is_or_is_below(link_target(process + "/cwd"), path)) return true;
  DIR* files = ::opendir((process + "/fd").c_str());
  bool found = false;
  while (const dirent* file = files == nullptr || found ? nullptr : ::readdir(files)) {
    found = is_or_is_below(link_target(process + "/fd/" + file->d_name), path);
  }
  if (files != nullptr) ::closedir(files);
  return found;
}

// Whether a process works with it, a compiler next door, say. Asked after the ranks and their offspring have ended.
bool is_in_use(const std::string& path) {
  DIR* processes = ::opendir("/proc");
  bool found = false;
  while (const dirent* entry = processes == nullptr || found ? nullptr : ::readdir(processes)) {
    if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9')
      found = has_open(std::string("/proc/") + entry->d_name, path);
  }
  if (processes != nullptr) ::closedir(processes);
  return found;
}

// The run's own directory, and what other runs on this machine have made and will remove themselves.
bool is_of_a_run(const std::string& name, const std::string& own_name) {
  return name == own_name || (name.starts_with("distrun-") && !name.starts_with(own_name));
}

}  // namespace

LeakScan::LeakScan(const RunPlaces& places, bool files)
    : files_(files), own_name_("distrun-" + places.run_id) {
  std::set<std::string> seen;
  for (const std::string& directory : {std::string("/dev/shm"), places.temp_dir, places.start_dir}) {
    if (seen.insert(directory).second) places_.push_back({directory, directory == "/dev/shm", {}, -1, false});
  }
  forget();
}

bool LeakScan::unchanged(Place& place) {
  struct stat status{};
  if (::stat(place.directory.c_str(), &status) != 0) return true;
  const std::int64_t modified = ns_of(status.st_mtim);
  if (modified == place.modified_ns && place.settled) return true;
  place.modified_ns = modified;
  place.settled = now_ns() - modified > kTickNs;
  return false;
}

std::set<std::string> LeakScan::read(const Place& place) {
  std::set<std::string> names;
  DIR* entries = ::opendir(place.directory.c_str());
  if (entries == nullptr) return names;
  while (const dirent* entry = ::readdir(entries)) names.insert(entry->d_name);
  ::closedir(entries);
  return names;
}

void LeakScan::forget() {
  for (Place& place : places_) {
    if (!unchanged(place) || place.stale) place.names = read(place);
    place.stale = false;
  }
}

std::vector<NewName> LeakScan::look(InUse in_use) {
  std::vector<NewName> found;
  for (Place& place : places_) {
    if (unchanged(place) && !place.stale) continue;
    place.stale = true;
    for (const std::string& name : read(place)) {
      if (place.names.contains(name) || is_of_a_run(name, own_name_)) continue;
      const std::string path = place.directory + "/" + name;
      struct stat status{};
      if (::lstat(path.c_str(), &status) != 0 || status.st_uid != ::geteuid()) continue;
      const NameKind kind = S_ISSOCK(status.st_mode) ? NameKind::Socket
                            : place.shared_memory    ? NameKind::SharedMemory
                                                     : NameKind::File;
      const bool wanted = files_ || kind != NameKind::File;
      const bool left_out = in_use == InUse::LeftOut && wanted && is_in_use(path);
      if (wanted && !left_out) found.push_back({kind, path});
    }
  }
  return found;
}

}  // namespace distrun::proc
