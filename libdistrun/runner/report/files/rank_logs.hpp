#pragma once
// Stores the complete output of programs in a file for each rank and stream: DIR/rank2.out, DIR/rank2.err. Lives on:
// the coordinator's loop.
#include <string>
#include <string_view>
#include <vector>

#include <distrun/common/base/fd.hpp>
#include <distrun/runner/launch/output_sink.hpp>

namespace distrun::report {

class RankLogs {
 public:
  // Creates the directory and truncates the files. Throws Error{Failed} with the path.
  RankLogs(const std::string& directory, int world_size);

  void write(int rank, launch::Stream stream, std::string_view bytes);
  // Returns the first error, after which its file is no longer written; empty: none.
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
