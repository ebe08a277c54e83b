#include "summary_file.hpp"

#include <cerrno>
#include <fstream>

#include <distrun/base/error.hpp>
#include <distrun/base/text.hpp>

namespace distrun::cli {
namespace {

constexpr std::size_t kSizeMax = std::size_t{2} << 30;
constexpr std::size_t kPiece = std::size_t{1} << 20;

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error(ErrorKind::InvalidArgument, "cannot read " + base::one_line(path, 400) + ": " + why);
}

}  // namespace

std::string summary_text(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text;
  while (file && text.size() <= kSizeMax) {
    const std::size_t before = text.size();
    text.resize(before + kPiece);
    file.read(text.data() + before, kPiece);
    text.resize(before + static_cast<std::size_t>(file.gcount()));
  }
  if (!file.eof() && text.size() > kSizeMax) refuse(path, "it has more than 2 GiB");
  if (!file.eof() || file.bad()) refuse(path, base::errno_text(errno));
  return text;
}

}  // namespace distrun::cli
