#pragma once
// The files of a run: its own directory, and whatever else carries the run's id in its name.
#include <string>
#include <vector>

namespace distrun::proc {

// Where names with the run id are looked for.
struct RunPlaces {
  std::string run_id;
  std::string temp_dir;   // $TMPDIR or /tmp
  std::string start_dir;  // where distrun was started

  static RunPlaces here(std::string run_id);
  std::string run_dir() const { return temp_dir + "/distrun-" + run_id; }
};

// Removes every entry of /dev/shm, the temp and the start directory that has the run id in its name and
// belongs to this user, with all that is in it; links are not followed. The run's own directory stays
// with `keep_run_dir`. Returns what was removed.
std::vector<std::string> remove_run_files(const RunPlaces& places, bool keep_run_dir = false);

// Removes a directory with all that is in it; silent if that fails (the report of a leak names it).
void remove_tree(const std::string& path);

}  // namespace distrun::proc
