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

// Whether a process that is not ours has the file open: a compiler at work next door, say.
bool is_open_elsewhere(const struct stat& wanted) {
  DIR* processes = ::opendir("/proc");
  if (processes == nullptr) return false;
  bool found = false;
  while (const dirent* process = found ? nullptr : ::readdir(processes)) {
    if (process->d_name[0] < '0' || process->d_name[0] > '9') continue;
    const std::string place = std::string("/proc/") + process->d_name + "/fd";
    DIR* files = ::opendir(place.c_str());
    if (files == nullptr) continue;
    while (const dirent* file = found ? nullptr : ::readdir(files)) {
      struct stat status{};
      found = ::stat((place + "/" + file->d_name).c_str(), &status) == 0 &&
              status.st_ino == wanted.st_ino && status.st_dev == wanted.st_dev;
    }
    ::closedir(files);
  }
  ::closedir(processes);
  return found;
}

}  // namespace

LeakScan::LeakScan(const RunPlaces& places) : own_name_("distrun-" + places.run_id) {
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
    if (!unchanged(place)) place.names = read(place);
  }
}

std::vector<NewName> LeakScan::look() {
  std::vector<NewName> found;
  for (Place& place : places_) {
    const std::int64_t modified_before = place.modified_ns;
    if (unchanged(place)) continue;
    for (const std::string& name : read(place)) {
      if (place.names.contains(name) || name == own_name_) continue;
      const std::string path = place.directory + "/" + name;
      struct stat status{};
      if (::lstat(path.c_str(), &status) != 0 || status.st_uid != ::geteuid()) continue;
      if (S_ISREG(status.st_mode) && !place.shared_memory && is_open_elsewhere(status)) continue;
      const NameKind kind = S_ISSOCK(status.st_mode) ? NameKind::Socket
                            : place.shared_memory    ? NameKind::SharedMemory
                                                     : NameKind::File;
      found.push_back({kind, path});
    }
    if (!found.empty()) place.modified_ns = modified_before;  // still new for the next look
  }
  return found;
}

}  // namespace distrun::proc
