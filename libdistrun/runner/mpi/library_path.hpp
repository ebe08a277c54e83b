#pragma once
// Finds the files of shared libraries as the dynamic loader would: in the folders that the file that needs them names,
// in LD_LIBRARY_PATH, in the loader's cache and in its usual folders. Only reads files.
#include <string>
#include <vector>

namespace distrun::mpi {

class LibraryPath {
 public:
  // `folders`: a value of LD_LIBRARY_PATH. Reads the cache, of which a part that is not valid is left out.
  explicit LibraryPath(const std::string& folders, const std::string& cache = "/etc/ld.so.cache");

  // Returns the file of a library that the file `user`, with this run path, needs; empty if it is not found.
  std::string find(const std::string& library, const std::string& user, const std::string& run_path) const;

 private:
  std::vector<std::string> folders_;
  std::string cache_;
};

// Returns the file of the library in the contents of a loader's cache; empty if it is not listed there.
std::string find_in_loader_cache(const std::string& cache, const std::string& library);

}  // namespace distrun::mpi
