#include <distrun/plugin/sdk/shared_file.hpp>

#include <fcntl.h>
#include <stdlib.h>

#include <cerrno>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/fd.hpp>

namespace distrun {
namespace {

constexpr const char* kTag = "distrun.shared_file";

std::string make_file(const Rank& rank, base::Location where) {
  std::string path = std::string(rank.temp_dir()) + "/shared-XXXXXX";
  const base::Fd file(::mkostemp(path.data(), O_CLOEXEC));
  if (!file) base::throw_errno("cannot make " + path, errno, where);
  return path;
}

}  // namespace

std::string make_shared_file(Rank& rank, base::Location where) {
  if (rank.rank() != 0) return rank.receive(0, kTag, kNoBound, where);
  const std::string path = make_file(rank, where);
  for (int other = 1; other < rank.world_size(); ++other) rank.send(other, kTag, path, where);
  return path;
}

}  // namespace distrun
