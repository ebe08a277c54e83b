#pragma once
// What programs write, complete, in a file for each rank and stream: DIR/rank2.out, DIR/rank2.err.
// Lives on: the coordinator's loop.
#include <string>
#include <string_view>
#include <vector>

#include <distrun/common/base/fd.hpp>
#include <distrun/runner/launch/output_sink.hpp>

namespace distrun::report {

class RankLogs {
 public:
  // Makes the directory and the files; what they held before is gone. Throws Error{Failed} with the path.
  RankLogs(const std::string& directory, int world_size);

  void write(int rank, launch::Stream stream, std::string_view bytes);
  // The first that went wrong, after which that file gets nothing more; empty: nothing.
  const std::string& failure() const noexcept { return failure_; }

 private:
  struct Log {
    std::string path;
    base::Fd file;
  };
  std::vector<Log> logs_;  // rank * 2 + stream
  std::string failure_;
};

}  // namespace distrun::report
