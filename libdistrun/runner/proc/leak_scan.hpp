#pragma once
// What appears while ranks run where everybody may leave something: names in shared memory, the temp and the start
// directory, and System V's segments, semaphores and queues. Whose they are this does not know.
//
// A directory whose modification time has not changed is not read again, nor are System V's lists where they are
// empty, so that a test that leaves nothing costs six calls.
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
  std::string path;  // or what people call it: "System V segment 5 (key 0x4711)"
  uid_t owner = 0;
  std::uint64_t device = 0;  // of a path
  std::uint64_t inode = 0;
  SystemVObject object{};  // else
  bool is_path() const noexcept { return object.id < 0; }
};

// All that is in a directory, whoever's it is.
std::vector<NewName> names_in(const std::string& directory);

// Names in these directories with which some process works, a compiler next door, say. Asks all that may be asked.
std::set<std::string> names_in_use(const std::vector<std::string>& directories);

class LeakScan {
 public:
  // A moment; what appears later has a greater one.
  using Mark = std::uint64_t;

  // What is there now is old. Without `files`, ordinary files are nobody's concern.
  explicit LeakScan(const RunPlaces& places, bool files = true);

  // What is there by now is older than what appears from now on.
  Mark mark();
  // What has appeared since then, is still there and this user's. The run's own directory and other runs' names
  // ("distrun-...") are left out.
  std::vector<NewName> since(Mark mark);
  // It is gone. What takes its place is new.
  void removed(const NewName& name);

  // A directory, and the time that tells whether it has changed since mark() or since() was asked last; -1: it may
  // have changed without a sign.
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
    // The kernel's file times have the grain of a tick: a directory that changed just before it was
    // read may change again without a sign, so it is read once more.
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
  std::map<std::pair<SystemVKind, int>, Mark> objects_;  // when each was seen first
};

}  // namespace distrun::proc
