#include <distrun/runner/mpi/library_path.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>

namespace distrun::mpi {
namespace {

constexpr std::array<const char*, 6> kUsualFolders{"/lib",       "/usr/lib",       "/lib64",
                                                   "/usr/lib64", "/usr/local/lib", "/usr/local/lib64"};

// The format of glibc 2.2 and later, which `ldconfig` writes: a header, entries, and then the texts that they refer to
// by their distance from the header.
constexpr std::string_view kMagic = "glibc-ld.so.cache1.1";
struct CacheHeader {
  char magic[20];
  std::uint32_t count;
  std::uint32_t rest[6];
};
struct CacheEntry {
  std::int32_t flags;
  std::uint32_t library;
  std::uint32_t file;
  std::uint32_t version;
  std::uint64_t machine;
};
static_assert(sizeof(CacheHeader) == 48 && sizeof(CacheEntry) == 24);

std::string_view text_at(std::string_view cache, std::uint32_t offset) {
  if (offset >= cache.size()) return {};
  const std::size_t end = cache.find('\0', offset);
  return end == std::string_view::npos ? std::string_view{} : cache.substr(offset, end - offset);
}

std::vector<std::string> split(const std::string& text, const char* separators) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find_first_of(separators, begin), text.size());
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::string with_origin(std::string folder, const std::string& user) {
  for (const std::string_view name : {"$ORIGIN", "${ORIGIN}"}) {
    const std::size_t at = folder.find(name);
    if (at != std::string::npos) folder.replace(at, name.size(), user.substr(0, user.find_last_of('/')));
  }
  return folder;
}

bool exists(const std::string& path) { return ::access(path.c_str(), R_OK) == 0; }

}  // namespace

std::string find_in_loader_cache(const std::string& cache, const std::string& library) {
  const std::size_t begin = cache.find(kMagic);  // after a table of the older format, on some systems
  if (begin == std::string::npos || cache.size() - begin < sizeof(CacheHeader)) return "";
  const std::string_view table = std::string_view(cache).substr(begin);
  CacheHeader header{};
  std::memcpy(&header, table.data(), sizeof header);
  for (std::uint32_t i = 0; i < header.count; ++i) {
    CacheEntry entry{};
    const std::size_t at = sizeof header + std::size_t{i} * sizeof entry;
    if (at + sizeof entry > table.size()) break;
    std::memcpy(&entry, table.data() + at, sizeof entry);
    if (text_at(table, entry.library) == library) return std::string(text_at(table, entry.file));
  }
  return "";
}

LibraryPath::LibraryPath(const std::string& folders, const std::string& cache) : folders_(split(folders, ":;")) {
  std::ifstream file(cache, std::ios::binary);
  cache_.assign(std::istreambuf_iterator<char>(file), {});
}

std::string LibraryPath::find(const std::string& library, const std::string& user, const std::string& run_path) const {
  if (library.find('/') != std::string::npos) return exists(library) ? library : "";
  std::vector<std::string> folders = folders_;
  for (const std::string& folder : split(run_path, ":")) folders.push_back(with_origin(folder, user));
  for (const std::string& folder : folders) {
    if (std::string path = folder + "/" + library; exists(path)) return path;
  }
  if (std::string path = find_in_loader_cache(cache_, library); !path.empty()) return path;
  for (const char* const folder : kUsualFolders) {
    if (std::string path = std::string(folder) + "/" + library; exists(path)) return path;
  }
  return "";
}

}  // namespace distrun::mpi
