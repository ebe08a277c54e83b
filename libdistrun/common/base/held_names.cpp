#include <distrun/common/base/held_names.hpp>

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

namespace distrun::base {
namespace {

constexpr std::string_view kSocket = "socket:[";

std::string link_target(const std::string& link) {
  char target[4096];
  const ssize_t size = ::readlink(link.c_str(), target, sizeof target);
  return size > 0 ? std::string(target, static_cast<std::size_t>(size)) : "";
}

// Returns the path at the end of a line of /proc, after `before` words; the path may contain blanks.
std::string path_after(const std::string& line, int before) {
  std::size_t at = 0;
  for (int word = 0; word < before && at != std::string::npos; ++word) {
    at = line.find(' ', line.find_first_not_of(' ', at));
  }
  at = line.find_first_not_of(' ', at);
  return at == std::string::npos ? "" : line.substr(at);
}

class Collection {
 public:
  explicit Collection(const std::vector<std::string>& directories) : directories_(directories) {}

  void add(const std::string& path) {
    for (const std::string& directory : directories_) {
      if (path.starts_with(directory + "/")) add_entry(path.substr(0, path.find('/', directory.size() + 1)));
    }
  }
  std::vector<HeldName> take() { return std::move(names_); }

 private:
  void add_entry(const std::string& entry) {
    struct stat status {};
    if (names_.size() >= kHeldNamesMax || !seen_.insert(entry).second) return;
    if (::lstat(entry.c_str(), &status) == 0) names_.push_back({entry, status.st_dev, status.st_ino});
  }

  const std::vector<std::string>& directories_;
  std::set<std::string> seen_;
  std::vector<HeldName> names_;
};

void add_mapped(const std::string& process, Collection& names) {
  std::ifstream maps(process + "/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find('/') != std::string::npos) names.add(path_after(line, 5));
  }
}

struct CloseDirectory {
  void operator()(DIR* directory) const noexcept { ::closedir(directory); }
};

// Its numbers for the sockets that it has open.
std::set<std::string> add_open(const std::string& process, Collection& names) {
  std::set<std::string> sockets;
  const std::unique_ptr<DIR, CloseDirectory> files(::opendir((process + "/fd").c_str()));
  while (const dirent* file = files == nullptr ? nullptr : ::readdir(files.get())) {
    const std::string target = link_target(process + "/fd/" + file->d_name);
    if (target.starts_with(kSocket)) {
      sockets.insert(target.substr(kSocket.size(), target.size() - kSocket.size() - 1));
    } else {
      names.add(target);
    }
  }
  return sockets;
}

// Adds the names that Unix sockets were bound to, as passed to bind().
void add_bound(const std::string& process, const std::set<std::string>& sockets, Collection& names) {
  if (sockets.empty()) return;
  const std::string here = link_target(process + "/cwd") + "/";
  std::ifstream bound(process + "/net/unix");
  for (std::string line; std::getline(bound, line);) {
    // "Num RefCount Protocol Flags Type St Inode Path"
    const std::string inode_and_path = path_after(line, 6);
    const std::size_t blank = inode_and_path.find(' ');
    if (blank == std::string::npos || !sockets.contains(inode_and_path.substr(0, blank))) continue;
    const std::string path = inode_and_path.substr(blank + 1);
    if (!path.starts_with('@')) names.add(path.starts_with('/') ? path : here + path);
  }
}

}  // namespace

std::vector<HeldName> held_names(const std::string& process, const std::vector<std::string>& directories) {
  const std::string place = "/proc/" + process;
  Collection names(directories);
  names.add(link_target(place + "/cwd"));
  add_mapped(place, names);
  add_bound(place, add_open(place, names), names);
  return names.take();
}

}  // namespace distrun::base
