#pragma once
// The files of a run: its directory, and all files with the run's id in their names.
#include <string>
#include <vector>

namespace distrun::proc {

// The places to search for names with the run id.
struct RunPlaces {
  std::string run_id;
  std::string temp_dir;   // $TMPDIR or /tmp
  std::string start_dir;  // where distrun was started

  static RunPlaces here(std::string run_id);
  std::string run_dir() const { return temp_dir + "/distrun-" + run_id; }
};

struct RemovedFiles {
  std::vector<std::string> removed;
  std::vector<std::string> stuck;  // "/tmp/x: Operation not permitted": the path that could not be removed, and why
};

// Removes every entry of /dev/shm, the temp and the start directory that has the run id in its name and belongs to this
// user, with its contents; links are not followed. `keep_run_dir` keeps the run's directory.
RemovedFiles remove_run_files(const RunPlaces& places, bool keep_run_dir = false);

// Reports on standard error the files that could not be removed.
void tell_stuck(const RemovedFiles& files);

// Removes a file, or a directory with its contents, including inaccessible directories. Does not follow links or remove
// mounted file systems. Returns the first path that cannot be removed, and why: "/tmp/x/y: Operation not permitted";
// empty: all is removed.
std::string remove_tree(const std::string& path);

}  // namespace distrun::proc
