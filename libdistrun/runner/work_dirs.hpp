#pragma once
// The directories of attempts: RUN_DIR/N shared by an attempt's ranks, and one below it for each rank. Making and
// removing directories is the disk's business and costs milliseconds on some; most tests never use theirs, so
// directories that an attempt leaves empty serve the next one.
#include <memory>
#include <string>
#include <vector>

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

 private:
  WorkDirPool& pool_;
  std::string shared_;
  int world_size_;
};

class WorkDirPool {
 public:
  // `keep` leaves every attempt's directories for a look. The run's directory is removed by who ends the run.
  WorkDirPool(std::string run_dir, bool keep) : run_dir_(std::move(run_dir)), keep_(keep) {}

  // Empty directories, for this attempt alone; for no ranks, the shared one. Throws Error{Failed} with the path. The
  // pool must outlive them.
  std::unique_ptr<WorkDirs> take(int world_size);

 private:
  friend class WorkDirs;
  struct Free {
    std::string shared;
    int world_size = 0;
  };
  void give_back(const WorkDirs& dirs, int world_size);

  std::string run_dir_;
  bool keep_;
  int made_ = 0;
  std::vector<Free> free_;
};

}  // namespace distrun::runner
