#pragma once
// Private /tmp and /dev/shm for the ranks of a lane, with --private-tmp: empty at the start of each attempt and
// invisible to other processes, so that what is left there is certainly the attempt's. They are directories of the run,
// mounted where only these ranks see them (launch::MountSpace).
//
// What ranks need stays visible even if it lies in /tmp: the run's directory, distrun itself, plugins and the files
// beside them, and the directory in which distrun was started. Lives on: the coordinator's loop.
#include <memory>
#include <string>
#include <vector>

#include <distrun/common/io/task.hpp>
#include <distrun/runner/launch/node.hpp>
#include <distrun/runner/proc/leak_scan.hpp>
#include <distrun/runner/proc/run_files.hpp>

namespace distrun::runner {

// Returns the real paths of the directories that ranks have to themselves.
std::vector<std::string> private_directories();

class PrivateTmp {
 public:
  // `name` is unique within the run, on this machine; `needed` are paths that stay visible if they exist. Creates
  // directories, but no mounts yet. The destructor removes them; with `keep` only if nothing was left in them. Throws
  // Error{Failed} with the path that cannot be created.
  PrivateTmp(const proc::RunPlaces& places, const std::string& name, std::vector<std::string> needed, bool keep);
  ~PrivateTmp();
  PrivateTmp(const PrivateTmp&) = delete;
  PrivateTmp& operator=(const PrivateTmp&) = delete;

  // To be mounted in this order. The last ones cover /tmp and /dev/shm.
  const std::vector<launch::Mount>& mounts() const noexcept { return mounts_; }
  // Set once the mounts exist.
  std::shared_ptr<const launch::MountSpace> space;

  struct Left {
    proc::NewName name;   // where it really lies
    std::string seen_as;  // its path for the ranks: "/tmp/socket"
  };
  // Returns what is left in them, except for needed paths.
  std::vector<Left> left() const;

 private:
  struct Folder {
    std::string shown;  // "/tmp"
    std::string stand_in;
  };
  void add_place(const std::string& shown, const std::string& stand_in);
  void let_stay(const std::string& path);
  void collect(const Folder& place, const std::string& below, std::vector<Left>& left) const;
  bool leads_to_needed(const std::string& shown) const;

  std::vector<std::string> roots_;  // removed at the end
  std::vector<Folder> places_;
  std::vector<std::string> needed_;  // outermost ones only, as ranks see them
  bool keep_;
  std::vector<launch::Mount> mounts_;
};

// Creates a PrivateTmp for each lane of a run on this machine. Nodes on other machines have one of these each
// (nodes/lane_tmps.hpp).
class PrivateTmps {
 public:
  // Serves ranks of these plugins, or of this program; `keep` preserves their leftovers. `node` must outlive this.
  PrivateTmps(launch::Node& node, proc::RunPlaces places, std::vector<std::string> plugins, bool keep)
      : node_(node), places_(std::move(places)), plugins_(std::move(plugins)), keep_(keep) {}

  // `program` also stays visible, if it is not empty. Throws Error with the reason if the kernel denies it.
  io::Task<std::unique_ptr<PrivateTmp>> make(std::string program = "");
  // Finds out whether the machines that run ranks allow it. Throws Error with the reason if one does not.
  io::Task<void> require();

 private:
  launch::Node& node_;
  proc::RunPlaces places_;
  std::vector<std::string> plugins_;
  bool keep_;
  int made_ = 0;
};

// Returns the paths that ranks of these plugins need, besides the run's directory.
std::vector<std::string> needed_paths(const proc::RunPlaces& places, const std::vector<std::string>& plugins);

}  // namespace distrun::runner
