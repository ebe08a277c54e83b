#pragma once
// The directories of one attempt: RUN_DIR/N shared by its ranks, and one below it for each rank.
#include <string>

namespace distrun::runner {

class WorkDirs {
 public:
  // Makes them. Throws Error{Failed} with the path. `keep` leaves them where they are in the end.
  WorkDirs(const std::string& run_dir, int number, int world_size, bool keep);
  ~WorkDirs();
  WorkDirs(const WorkDirs&) = delete;
  WorkDirs& operator=(const WorkDirs&) = delete;

  const std::string& shared() const noexcept { return shared_; }
  std::string of(int rank) const;

 private:
  std::string shared_;
  int world_size_;
  bool keep_;
};

}  // namespace distrun::runner
