#pragma once
// /tmp and /dev/shm of a lane's ranks, with --private-tmp: empty at the beginning of each attempt, and seen by nobody
// else, so that what is left there is surely the attempt's. Directories of the run stand in for them, in mounts that
// only these ranks see (launch::MountSpace).
//
// What ranks need stays where it is, though it lies in /tmp: the run's directory, distrun itself, plugins and what
// lies beside them, the directory that distrun was started in. Lives on: the coordinator's loop.
#include <memory>
#include <string>
#include <vector>

#include <distrun/common/io/task.hpp>
#include <distrun/runner/launch/node.hpp>
#include <distrun/runner/proc/leak_scan.hpp>
#include <distrun/runner/proc/run_files.hpp>

namespace distrun::runner {

// The directories that ranks have for themselves, by their real paths.
std::vector<std::string> private_directories();

class PrivateTmp {
 public:
  // The `number`th of the run; `needed` are paths that stay where they are, as far as they are there. Makes
  // directories, no mounts yet. In the end they are removed, but with `keep` only those in which nothing was left.
  // Throws Error{Failed} with the path that cannot be made.
  PrivateTmp(const proc::RunPlaces& places, int number, std::vector<std::string> needed, bool keep);
  ~PrivateTmp();
  PrivateTmp(const PrivateTmp&) = delete;
  PrivateTmp& operator=(const PrivateTmp&) = delete;

  // In this order. The last of them cover /tmp and /dev/shm.
  const std::vector<launch::Mount>& mounts() const noexcept { return mounts_; }
  // Once they are made.
  std::shared_ptr<const launch::MountSpace> space;

  struct Left {
    proc::NewName name;   // where it lies
    std::string seen_as;  // by ranks: "/tmp/socket"
  };
  // What is in them, but for what stays.
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

  std::vector<std::string> roots_;  // removed in the end
  std::vector<Folder> places_;
  std::vector<std::string> needed_;  // the outermost ones only, as ranks see them
  bool keep_;
  std::vector<launch::Mount> mounts_;
};

// Makes them for the lanes of a run.
class PrivateTmps {
 public:
  // For ranks of these plugins, or of this program; `keep` leaves what they leave for a look. `node` must outlive it.
  PrivateTmps(launch::Node& node, proc::RunPlaces places, std::vector<std::string> plugins, bool keep)
      : node_(node), places_(std::move(places)), plugins_(std::move(plugins)), keep_(keep) {}

  // Throws Error with what is denied.
  io::Task<std::unique_ptr<PrivateTmp>> make();

 private:
  launch::Node& node_;
  proc::RunPlaces places_;
  std::vector<std::string> plugins_;
  bool keep_;
  int made_ = 0;
};

// What ranks of these plugins need beside the run's own directory.
std::vector<std::string> needed_paths(const proc::RunPlaces& places, const std::vector<std::string>& plugins);

}  // namespace distrun::runner
