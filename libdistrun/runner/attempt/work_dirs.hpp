#pragma once
// Directories of attempts: RUN_DIR/N is shared by the ranks of an attempt and holds, for each rank, a work directory
// and a TMPDIR. Creating and removing directories takes milliseconds on some file systems, and most tests never use
// theirs, so directories that an attempt leaves empty are reused.
#include <memory>
#include <string>
#include <vector>

#include <distrun/runner/proc/leak_scan.hpp>

namespace distrun::runner {

class WorkDirPool;

// The directories of one attempt; returned to the pool by the destructor.
class WorkDirs {
 public:
  WorkDirs(WorkDirPool& pool, std::string shared, int world_size);
  ~WorkDirs();
  WorkDirs(const WorkDirs&) = delete;
  WorkDirs& operator=(const WorkDirs&) = delete;

  const std::string& shared() const noexcept { return shared_; }
  std::string of(int rank) const { return shared_ + "/rank" + std::to_string(rank); }
  // A world without ranks, for the host of a suite, has one too.
  std::string tmp_of(int rank) const { return shared_ + "/tmp" + std::to_string(rank); }
  // Keeps these directories after the run.
  void keep() noexcept { kept_ = true; }
  // Returns whether they are kept for inspection.
  bool kept() const noexcept;
  // Returns the contents of the TMPDIRs.
  std::vector<proc::NewName> left_in_tmp() const;
  // Call when no process uses the directories any more. Removes those that are not empty and returns what cannot be
  // removed, or empty. The destructor does the same silently.
  std::string clear();

 private:
  friend class WorkDirPool;
  int tmp_count() const noexcept { return world_size_ > 0 ? world_size_ : 1; }

  WorkDirPool& pool_;
  std::string shared_;
  int world_size_;
  bool gone_ = false;
  bool kept_ = false;
};

class WorkDirPool {
 public:
  // `keep` preserves the directories of every attempt. The caller removes `run_dir` at the end of the run.
  WorkDirPool(std::string run_dir, bool keep) : run_dir_(std::move(run_dir)), keep_(keep) {}

  // Returns empty directories for one attempt; without ranks, the shared one and a TMPDIR. Throws Error{Failed} with
  // the path. The pool must outlive them.
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
