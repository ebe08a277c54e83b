#include "bazel.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>

#include <distrun/common/base/fd.hpp>

namespace distrun::cli {
namespace {

// A builder that wants a file where none can be created gets none: that is no reason to run no tests.
void create_empty(const char* path) { const base::Fd file(::open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666)); }

}  // namespace

void tell_that_shards_are_known() {
  if (const char* path = std::getenv("TEST_SHARD_STATUS_FILE")) create_empty(path);
}

PrematureExitFile::PrematureExitFile() {
  const char* path = std::getenv("TEST_PREMATURE_EXIT_FILE");
  if (path == nullptr || *path == '\0') return;
  path_ = path;
  create_empty(path);
}

PrematureExitFile::~PrematureExitFile() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

}  // namespace distrun::cli
