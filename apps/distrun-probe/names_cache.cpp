#include "names_cache.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <distrun/common/base/directories.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/fd.hpp>
#include <distrun/common/base/replaced_file.hpp>
#include <distrun/common/wire/codec.hpp>

namespace distrun::probe {

DISTRUN_FIELDS(Function, m.name, m.file, m.line, m.inlined, m.has_linkage_name)

namespace {

namespace fs = std::filesystem;

constexpr char kFormat[] = "distrun names 1, " DISTRUN_VERSION;  // another version may name functions differently
constexpr std::size_t kFileMax = std::size_t{16} << 20;          // bytes
constexpr std::size_t kFilesMost = 64;
constexpr mode_t kWritableByOthers = S_IWGRP | S_IWOTH;
constexpr char kEnd[] = ".names";

struct Place {
  std::uint64_t address = 0;
  std::vector<Function> functions;
};
DISTRUN_FIELDS(Place, m.address, m.functions)

struct NamesFile {
  std::string format;
  std::vector<Place> places;
};
DISTRUN_FIELDS(NamesFile, m.format, m.places)

bool is_own(const struct stat& found) {
  return found.st_uid == ::geteuid() && (found.st_mode & kWritableByOthers) == 0;
}

bool is_own_directory(const fs::path& path) {
  struct stat found {};
  return ::stat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode) && is_own(found);
}

// Creates no directory within one of another user, such as the home directory that sudo leaves set.
bool make_own_directory(const fs::path& folder) {
  fs::path there = fs::absolute(folder);
  struct stat found {};
  while (::stat(there.c_str(), &found) != 0 && there.has_relative_path()) there = there.parent_path();
  if (found.st_uid != ::geteuid()) return false;
  base::make_directories(folder);
  return is_own_directory(folder);
}

std::string path_of(const std::string& folder, const std::string& build_id) { return folder + "/" + build_id + kEnd; }

// Returns the bytes of a file that belongs to this user. Returns no bytes if the file is missing or too large.
wire::Bytes read_own(const std::string& path) {
  const base::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat found {};
  if (!file || ::fstat(file.get(), &found) != 0 || !S_ISREG(found.st_mode) || !is_own(found)) return {};
  if (found.st_size <= 0 || static_cast<std::uint64_t>(found.st_size) > kFileMax) return {};
  wire::Bytes bytes(static_cast<std::size_t>(found.st_size));
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t got = ::read(file.get(), bytes.data() + filled, bytes.size() - filled);
    if (got <= 0) return {};
    filled += static_cast<std::size_t>(got);
  }
  return bytes;
}

// Removes what is beyond the limit, the oldest first: also files that a killed process had not finished.
void remove_oldest(const std::string& folder) {
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  std::error_code failed;
  for (const fs::directory_entry& each : fs::directory_iterator(folder, failed)) {
    const fs::file_time_type written = each.last_write_time(failed);
    if (!failed) files.emplace_back(written, each.path());
  }
  std::sort(files.begin(), files.end());
  for (std::size_t i = 0; i + kFilesMost < files.size(); ++i) fs::remove(files[i].second, failed);
}

void replace(const std::string& path, const wire::Bytes& bytes) {
  base::ReplacedFile file(path);
  if (::fchmod(file.fd(), S_IRUSR | S_IWUSR) != 0) return;
  file.write(bytes);
  file.take_place(base::ReplacedFile::Sync::No);
}

}  // namespace

std::string NamesCache::find_folder() {
  const char* wish = std::getenv("DISTRUN_NAMES_CACHE");
  if (wish != nullptr && wish[0] != '\0') return std::string_view(wish) == "off" ? "" : wish;
  const std::string cache = base::user_directory("XDG_CACHE_HOME", ".cache");
  return cache.empty() ? "" : cache + "/distrun/names";
}

NamesCache::Names NamesCache::read(const std::string& build_id) const {
  if (folder_.empty() || build_id.empty()) return {};
  try {
    const wire::Bytes bytes = read_own(path_of(folder_, build_id));
    if (bytes.empty() || !is_own_directory(folder_)) return {};
    auto file = wire::decode<NamesFile>(wire::view_of(bytes));
    if (file.format != kFormat) return {};
    Names names;
    for (Place& place : file.places) {
      if (!place.functions.empty()) names.emplace(place.address, std::move(place.functions));
    }
    return names;
  } catch (const std::exception&) {
    return {};
  }
}

void NamesCache::write(const std::string& build_id, const Names& names) const {
  if (folder_.empty() || build_id.empty()) return;
  try {
    NamesFile file{kFormat, {}};
    for (const auto& [address, functions] : names) file.places.push_back({address, functions});
    const wire::Bytes bytes = wire::encode(file);
    if (bytes.size() > kFileMax || !make_own_directory(folder_)) return;
    replace(path_of(folder_, build_id), bytes);
    remove_oldest(folder_);
  } catch (const std::exception&) {
    return;
  }
}

}  // namespace distrun::probe
