#pragma once
// The directories of attempts: RUN_DIR/N shared by an attempt's ranks, and below it two for each rank, where it works
// and its TMPDIR. Making and removing directories is the disk's business and costs milliseconds on some; most tests
// never use theirs, so directories that an attempt leaves empty serve the next one.
#include <memory>
#include <string>
#include <vector>

#include <distrun/runner/proc/leak_scan.hpp>

namespace distrun::runner {

class WorkDirPool;

// Of one attempt; goes back to its pool.
class WorkDirs {
 public:
  WorkDirs(WorkDirPool& pool, std::string shared, int world_size);
  ~WorkDirs();
  WorkDirs(const WorkDirs&) = delete;
  WorkDirs& operator=(const WorkDirs&) = delete;

  const std::string& shared() const noexcept { return shared_; }
  std::string of(int rank) const { return shared_ + "/rank" + std::to_string(rank); }
  // Of no rank: there is one, for the host of a suite.
  std::string tmp_of(int rank) const { return shared_ + "/tmp" + std::to_string(rank); }
  // Whether they stay for a look.
  bool kept() const noexcept;
  // What is in the TMPDIRs.
  std::vector<proc::NewName> left_in_tmp() const;
  // Once nobody works here any more: removes what is not empty, so that it can be told what cannot be removed; empty:
  // nothing. Otherwise that happens at its end, and silently.
  std::string clear();

 private:
  friend class WorkDirPool;
  int tmp_count() const noexcept { return world_size_ > 0 ? world_size_ : 1; }

  WorkDirPool& pool_;
  std::string shared_;
  int world_size_;
  bool gone_ = false;
};

class WorkDirPool {
 public:
  // `keep` leaves every attempt's directories for a look. The run's directory is removed by who ends the run.
  WorkDirPool(std::string run_dir, bool keep) : run_dir_(std::move(run_dir)), keep_(keep) {}

  // Empty directories, for this attempt alone; for no ranks, the shared one and a TMPDIR. Throws Error{Failed} with the
  // path. The pool must outlive them.
  std::unique_ptr<WorkDirs> take(int world_size);

 private:
  friend class WorkDirs;
  struct Free {
    std::string shared;
    int world_size = 0;
  };
  void give_back(WorkDirs& dirs);

  std::string run_dir_;
  bool keep_;
  int made_ = 0;
  std::vector<Free> free_;
};

}  // namespace distrun::runner
