#include <distrun/runner/attempt/private_tmp.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/fd.hpp>
#include <distrun/runner/proc/program.hpp>

namespace distrun::runner {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kOwn = 0700;
constexpr mode_t kForAll = 01777;  // like /tmp, since a rank may become another user

std::string real(const std::string& path) {
  std::error_code error;
  const fs::path found = fs::canonical(path, error);
  return error ? std::string() : found.string();
}

bool is_below(const std::string& path, const std::string& directory) {
  return path.size() > directory.size() && path.starts_with(directory) && path[directory.size()] == '/';
}

void make_directory(const std::string& path, mode_t mode) {
  if (::mkdir(path.c_str(), kOwn) != 0 && errno != EEXIST) base::throw_errno("cannot create " + path, errno);
  if (mode != kOwn && ::chmod(path.c_str(), mode) != 0) base::throw_errno("cannot open up " + path, errno);
}

// Creates a directory or file to mount on.
void make_mount_point(const std::string& path, bool directory) {
  std::error_code error;
  fs::create_directories(directory ? fs::path(path) : fs::path(path).parent_path(), error);
  if (!error && !directory)
    error = base::Fd(::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, kOwn))
                ? std::error_code()
                : std::error_code(errno, std::generic_category());
  if (error) throw Error(ErrorKind::Failed, "cannot create " + path + ": " + error.message());
}

std::string parent_of(const std::string& path) { return fs::path(path).parent_path().string(); }

bool is_shared_memory(const std::string& directory) { return directory == real("/dev/shm"); }

std::string denied(const std::string& why) {
  return "--private-tmp needs private mounts, which are denied here: " + why +
         "; leave it out, or allow mount and user namespaces (sysctls user.max_user_namespaces, "
         "user.max_mnt_namespaces, kernel.unprivileged_userns_clone, and a container's system call filter)";
}

bool is_private(const std::string& path) {
  const std::vector<std::string> all = private_directories();
  return std::find(all.begin(), all.end(), path) != all.end();
}

}  // namespace

std::vector<std::string> private_directories() {
  std::vector<std::string> directories;
  for (const char* each : {"/tmp", "/dev/shm"}) {
    if (std::string path = real(each); !path.empty()) directories.push_back(std::move(path));
  }
  return directories;
}

// A file directly in /tmp is needed by itself; its directory would be all of /tmp.
std::vector<std::string> needed_paths(const proc::RunPlaces& places, const std::vector<std::string>& plugins) {
  std::vector<std::string> needed{places.start_dir};
  std::vector<std::string> files = plugins;
  files.push_back(parent_of(proc::program_beside("distrun-rank")));  // if that is PREFIX/bin: PREFIX
  for (const std::string& each : files) {
    const std::string file = real(each);
    if (file.empty()) continue;
    needed.push_back(is_private(parent_of(file)) ? file : parent_of(file));
  }
  return needed;
}

PrivateTmp::PrivateTmp(const proc::RunPlaces& places, const std::string& name, std::vector<std::string> needed,
                       bool keep)
    : keep_(keep) {
  for (const std::string& shown : private_directories()) {
    // The directory that replaces /dev/shm must be shared memory too, so it lies in /dev/shm.
    const std::string run_dir = is_shared_memory(shown) ? shown + "/distrun-" + places.run_id : places.run_dir();
    add_place(shown, run_dir + "/private-" + name);
  }
  std::sort(needed.begin(), needed.end());  // outer paths before inner ones
  needed.insert(needed.begin(), places.run_dir());
  for (const std::string& path : needed) let_stay(path);
  for (const Folder& place : places_) mounts_.push_back({place.stand_in, place.shown});
}

PrivateTmp::~PrivateTmp() {
  if (keep_ && !left().empty()) return;
  for (const std::string& root : roots_) {
    proc::remove_tree(root);
    ::rmdir(parent_of(root).c_str());  // fails if it is not empty
  }
}

void PrivateTmp::add_place(const std::string& shown, const std::string& stand_in) {
  make_directory(parent_of(stand_in), kOwn);  // the run's directory
  make_directory(stand_in, kOwn);
  roots_.push_back(stand_in);
  const std::string open_for_all = stand_in + "/" + fs::path(shown).filename().string();
  make_directory(open_for_all, kForAll);
  places_.push_back({shown, open_for_all});
}

void PrivateTmp::let_stay(const std::string& path) {
  const std::string there = real(path);
  for (const Folder& place : places_) {
    if (!is_below(there, place.shown)) continue;
    const bool known = std::any_of(needed_.begin(), needed_.end(),
                                   [&](const std::string& other) { return there == other || is_below(there, other); });
    if (known) return;
    const std::string stand_in = place.stand_in + there.substr(place.shown.size());
    make_mount_point(stand_in, fs::is_directory(there));
    mounts_.push_back({there, stand_in});
    needed_.push_back(there);
  }
}

bool PrivateTmp::leads_to_needed(const std::string& shown) const {
  return std::any_of(needed_.begin(), needed_.end(), [&](const std::string& path) { return is_below(path, shown); });
}

void PrivateTmp::collect(const Folder& place, const std::string& below, std::vector<Left>& left) const {
  for (proc::NewName& name : proc::names_in(place.stand_in + below)) {
    const std::string inner = name.path.substr(place.stand_in.size());
    const std::string shown = place.shown + inner;
    if (std::find(needed_.begin(), needed_.end(), shown) != needed_.end()) continue;
    if (leads_to_needed(shown)) {
      collect(place, inner, left);
    } else {
      if (is_shared_memory(place.shown) && name.kind == proc::NameKind::File) name.kind = proc::NameKind::SharedMemory;
      left.push_back({std::move(name), shown});
    }
  }
}

std::vector<PrivateTmp::Left> PrivateTmp::left() const {
  std::vector<Left> left;
  for (const Folder& place : places_) collect(place, "", left);
  return left;
}

// Nodes that share a machine, as with --launcher local, share /dev/shm and the run's id, too.
io::Task<std::unique_ptr<PrivateTmp>> PrivateTmps::make(std::string program) {
  std::vector<std::string> files = plugins_;
  if (!program.empty()) files.push_back(std::move(program));
  const std::string name = std::to_string(::getpid()) + "-" + std::to_string(++made_);
  auto made = std::make_unique<PrivateTmp>(places_, name, needed_paths(places_, files), keep_);
  try {
    made->space = co_await node_.make_mounts(made->mounts());
  } catch (const Error& error) {
    throw Error(error.kind(), denied(error.what()));
  }
  co_return made;
}

io::Task<void> PrivateTmps::require() {
  if (node_.is_spread()) co_return co_await node_.require_private_tmp();
  co_await make();
}

}  // namespace distrun::runner
