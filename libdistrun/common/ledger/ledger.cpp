#include <distrun/common/ledger/ledger.hpp>

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/file_size_signal.hpp>

namespace distrun::ledger {
namespace {

constexpr char kName[] = "distrun-references";
constexpr char kLink[] = "/memfd:distrun-references";  // as /proc shows it, followed by " (deleted)"
constexpr std::uint64_t kMagic = 0x31'66'65'72'64'72'74'73;
constexpr std::uint64_t kBytesMax = 64 << 20;
constexpr int kAttempts = 20;

// Precedes the page. An odd sequence number: the page is being written.
struct Head {
  std::uint64_t magic = kMagic;
  std::uint64_t sequence = 0;
  std::uint64_t bytes = 0;
};

bool read_all(int fd, void* to, std::size_t bytes, off_t at) noexcept {
  auto* next = static_cast<char*>(to);
  while (bytes != 0) {
    const ssize_t count = ::pread(fd, next, bytes, at);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    next += count, bytes -= static_cast<std::size_t>(count), at += count;
  }
  return true;
}

bool write_all(int fd, const void* from, std::size_t bytes, off_t at) noexcept {
  const base::NoFileSizeSignal no_signal;
  const auto* next = static_cast<const char*>(from);
  while (bytes != 0) {
    const ssize_t count = ::pwrite(fd, next, bytes, at);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    next += count, bytes -= static_cast<std::size_t>(count), at += count;
  }
  return true;
}

std::optional<Page> read_once(int fd) {
  Head head;
  if (!read_all(fd, &head, sizeof head, 0) || head.magic != kMagic) return std::nullopt;
  if (head.sequence % 2 != 0 || head.bytes > kBytesMax) return std::nullopt;
  wire::Bytes bytes(head.bytes);
  Head after;
  if (!read_all(fd, bytes.data(), bytes.size(), sizeof head) || !read_all(fd, &after, sizeof after, 0)) {
    return std::nullopt;
  }
  if (after.sequence != head.sequence) return std::nullopt;
  return wire::decode<Page>(wire::view_of(bytes));
}

std::optional<Page> read_page(const std::string& path) {
  const base::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  for (int attempt = 0; fd && attempt < kAttempts; ++attempt) {
    try {
      if (auto page = read_once(fd.get())) return page;
    } catch (const Error&) {
      return std::nullopt;  // invalid contents
    }
    ::usleep(1000);
  }
  return std::nullopt;
}

bool is_ledger(const std::string& path) {
  char target[256];
  const ssize_t size = ::readlink(path.c_str(), target, sizeof target);
  return size > 0 && std::string_view(target, static_cast<std::size_t>(size)).starts_with(kLink);
}

}  // namespace

std::string to_string(const Id& id) { return std::to_string(id.created_on) + "." + std::to_string(id.local_id); }

Writer::Writer() : memfd_(::memfd_create(kName, MFD_CLOEXEC)) {
  if (!memfd_) {
    throw Error(ErrorKind::Failed, std::string("no memory for the ledger of references: ") + std::strerror(errno));
  }
}

// A concurrent reader sees an odd sequence number, or two that differ.
void Writer::write(const Page& page) noexcept {
  try {
    const wire::Bytes bytes = wire::encode(page);
    if (bytes.size() > kBytesMax) return;
    Head head;
    head.bytes = bytes.size();
    head.sequence = sequence_ + 1;
    if (!write_all(memfd_.get(), &head, sizeof head, 0)) return;
    const bool is_whole = write_all(memfd_.get(), bytes.data(), bytes.size(), sizeof head);
    if (!is_whole) head.bytes = 0;
    head.sequence = sequence_ += 2;
    write_all(memfd_.get(), &head, sizeof head, 0);
  } catch (const std::exception&) {
    return;
  }
}

std::vector<Page> read_pages(int pid) {
  std::vector<Page> pages;
  const std::string folder = "/proc/" + std::to_string(pid) + "/fd";
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(folder.c_str()), &::closedir);
  if (entries == nullptr) return pages;
  while (const dirent* const entry = ::readdir(entries.get())) {
    const std::string path = folder + "/" + entry->d_name;
    if (!is_ledger(path)) continue;
    if (auto page = read_page(path)) pages.push_back(std::move(*page));
  }
  std::sort(pages.begin(), pages.end(), [](const Page& a, const Page& b) { return a.worker < b.worker; });
  return pages;
}

}  // namespace distrun::ledger
