#pragma once
// Keeps names of code from one look to the next: reading gigabytes of debug information takes seconds, and a test that
// hangs is mostly run again. There is one file for each build id, which stands for the debug information. Files that
// others could have written are not read, nothing is trusted that a file contains, and all of them may be deleted at
// any time. Errors are not reported: without a cache the names are read again. Processes may use a folder concurrently;
// the file that is written last stays.
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <distrun/common/base/clock.hpp>

#include "function_index.hpp"

namespace distrun::probe {

class NamesCache {
 public:
  using Names = std::map<std::uint64_t, std::vector<Function>>;  // by address in the file

  // Returns $DISTRUN_NAMES_CACHE, else $XDG_CACHE_HOME/distrun/names, else ~/.cache/distrun/names. Returns an empty
  // text if the first is "off", or if there is no such directory.
  static std::string find_folder();

  NamesCache() = default;  // keeps nothing
  // `folder` is created when something is kept; an empty text keeps nothing. Names of a file are worth keeping if they
  // took `worth` to find.
  explicit NamesCache(std::string folder, base::Nanoseconds worth = std::chrono::milliseconds(200))
      : folder_(std::move(folder)), worth_(worth) {}

  base::Nanoseconds worth() const noexcept { return worth_; }

  // Returns the names that were kept for the file, possibly none.
  Names read(const std::string& build_id) const;
  // Replaces them, and removes the files that were written first if there are many.
  void write(const std::string& build_id, const Names& names) const;

 private:
  std::string folder_;
  base::Nanoseconds worth_ = base::Nanoseconds::max();
};

}  // namespace distrun::probe
