#include <distrun/runner/report/files/whole_file.hpp>

#include <algorithm>
#include <cerrno>

#include <sys/stat.h>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/replaced_file.hpp>
#include <distrun/runner/report/files/destination.hpp>
#include <distrun/runner/report/files/outlet.hpp>

namespace distrun::report {
namespace {

// A reader that takes nothing for this long is considered gone, even if its pipe is open.
constexpr base::Milliseconds kPatience = std::chrono::minutes(10);
constexpr std::size_t kPiece = 1U << 20U;

[[noreturn]] void fail(const std::string& path, int number) { base::throw_errno("cannot write " + path, number); }

void write_to(int fd, const std::string& path, std::string_view content) {
  Outlet outlet(fd);
  while (!content.empty() && outlet.error() == 0) {  // in pieces, since an outlet copies each
    outlet.write(content.substr(0, kPiece));
    outlet.drain(kPatience);
    content.remove_prefix(std::min(kPiece, content.size()));
  }
  if (outlet.error() != 0) fail(path, outlet.error());
}

void write_directly(const std::string& path, std::string_view content) {
  const Destination destination = open_destination(path);
  write_to(destination.fd.get(), path, content);
}

}  // namespace

void write_whole_file(const std::string& path, std::string_view content) {
  if (descriptor_named(path)) return write_directly(path, content);
  struct stat old {};
  const bool exists = stat(path.c_str(), &old) == 0;
  if (exists && S_ISDIR(old.st_mode)) fail(path, EISDIR);
  if (exists && !S_ISREG(old.st_mode)) return write_directly(path, content);
  base::ReplacedFile file(path);
  write_to(file.fd(), path, content);
  file.take_place(base::ReplacedFile::Sync::No);  // not synced: there are many reports, and they can be created again
}

}  // namespace distrun::report
