#pragma once
// Names that appear in shared memory, the temp and the start directory while ranks run. A directory whose
// modification time has not changed is not read again, so a test that leaves nothing costs three calls.
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <distrun/proc/run_files.hpp>

namespace distrun::proc {

enum class NameKind : std::uint8_t { SharedMemory, Socket, File };

struct NewName {
  NameKind kind = NameKind::File;
  std::string path;
};

class LeakScan {
 public:
  // Without `files`, ordinary files are nobody's concern.
  explicit LeakScan(const RunPlaces& places, bool files = true);

  // From now on, what is there counts as old.
  void forget();
  // Names that appeared since, are this user's, and with which no process works. They stay new until forget().
  // The run's own directory and other runs' names ("distrun-...") are not looked at.
  std::vector<NewName> look() { return look(InUse::LeftOut); }
  // Also those with which a process works.
  std::vector<NewName> look_at_all() { return look(InUse::Too); }

 private:
  struct Place {
    std::string directory;
    bool shared_memory = false;
    std::set<std::string> names;
    std::int64_t modified_ns = -1;
    // The kernel's file times have the grain of a tick: a directory that changed just before it was
    // read may change again without a sign, so it is read once more.
    bool settled = false;
    bool stale = false;  // it changed since forget()
  };
  enum class InUse { LeftOut, Too };
  std::vector<NewName> look(InUse in_use);
  static bool unchanged(Place& place);
  static std::set<std::string> read(const Place& place);

  bool files_;
  std::string own_name_;  // of the run's directory
  std::vector<Place> places_;
};

}  // namespace distrun::proc
