#pragma once
// Finds names that appear while ranks run in places open to all programs: shared memory, the temp and the start
// directory, and System V's segments, semaphores and queues. It does not know who created them.
//
// A directory is read again only if its modification time has changed, and System V's lists only if they are not empty,
// so a test that leaves nothing behind costs six calls.
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <distrun/common/base/held_names.hpp>
#include <distrun/runner/proc/run_files.hpp>
#include <distrun/runner/proc/system_v.hpp>

namespace distrun::proc {

enum class NameKind : std::uint8_t { SharedMemory, Socket, File, Semaphores, Queue };

struct NewName {
  NameKind kind = NameKind::File;
  std::string path;  // or a description: "System V segment 5 (key 0x4711)"
  uid_t owner = 0;
  std::uint64_t device = 0;  // of a path
  std::uint64_t inode = 0;
  SystemVObject object{};  // if it is not a path
  bool is_path() const noexcept { return object.id < 0; }
};

// Returns all names in a directory, of any owner.
std::vector<NewName> names_in(const std::string& directory);

// Returns names in these directories that any inspectable process is using (such as a neighbouring compiler).
std::set<std::string> names_in_use(const std::vector<std::string>& directories);

class LeakScan {
 public:
  // A moment; names that appear later have a greater one.
  using Mark = std::uint64_t;

  // Treats all existing names as old. Without `files`, ordinary files are ignored.
  explicit LeakScan(const RunPlaces& places, bool files = true);

  // Starts a new moment: all names that exist now are older than those that appear later.
  Mark mark();
  // Returns the names that have appeared since `mark`, still exist and belong to this user. Leaves out the run's own
  // directory and names of other runs ("distrun-...").
  std::vector<NewName> since(Mark mark);
  // Call after removing a name: a later one in its place is new.
  void removed(const NewName& name);

  // A directory, and its modification time at the last mark() or since(); -1: it may have changed undetected.
  struct Watched {
    std::string directory;
    std::int64_t modified_ns = -1;
  };
  std::vector<Watched> watched() const;

 private:
  struct Entry {
    std::uint64_t inode = 0;
    Mark seen = 0;
  };
  struct WatchedPlace {
    std::string directory;
    bool shared_memory = false;
    std::map<std::string, Entry> entries;
    std::int64_t modified_ns = -1;
    // File times advance by ticks: a directory read just after a change may change again unseen, so is read again.
    bool settled = false;
  };
  static bool unchanged(WatchedPlace& place);
  void read(WatchedPlace& place);
  void refresh();
  void add_names(const WatchedPlace& place, Mark mark, std::vector<NewName>& found) const;
  void add_objects(Mark mark, std::vector<NewName>& found);

  bool files_;
  std::string own_name_;  // of the run's directory
  Mark now_ = 0;
  std::vector<WatchedPlace> places_;
  std::map<std::pair<SystemVKind, int>, Mark> objects_;  // when each was first seen
};

}  // namespace distrun::proc
