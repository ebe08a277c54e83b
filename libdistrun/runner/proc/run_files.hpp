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

struct RemovedFiles {
  std::vector<std::string> removed;
  std::vector<std::string> stuck;  // "/tmp/x: Operation not permitted": what could not be, and why
};

// Removes every entry of /dev/shm, the temp and the start directory that has the run id in its name and
// belongs to this user, with all that is in it; links are not followed. The run's own directory stays
// with `keep_run_dir`.
RemovedFiles remove_run_files(const RunPlaces& places, bool keep_run_dir = false);

// On standard error, what is left in spite of that.
void tell_stuck(const RemovedFiles& files);

// Removes a file, or a directory with all that is in it, closed directories too. Links are not followed, and what is
// mounted there is left alone. Returns the first that cannot be removed, and why: "/tmp/x/y: Operation not permitted";
// empty: all is gone.
std::string remove_tree(const std::string& path);

}  // namespace distrun::proc
