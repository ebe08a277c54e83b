#pragma once
// Reads from an ELF file of this machine which shared libraries it needs, without loading it.
#include <elf.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <distrun/common/base/fd.hpp>

namespace distrun::base {

// Never throws for what the file contains: another kind of file needs nothing.
class ElfFile {
 public:
  explicit ElfFile(const char* path);

  // Returns the names of the shared libraries that it needs: "libm.so.6".
  std::vector<std::string> needed() const { return texts_of({DT_NEEDED}); }
  // Returns the folders in which the loader looks for them first: "$ORIGIN/../lib:/opt/lib"; empty: none.
  std::string run_path() const;

 private:
  template <class T>
  bool read(std::uint64_t offset, T& value) const;
  std::string string_at(std::uint64_t offset) const;
  template <class Matches>
  std::optional<Elf64_Phdr> segment(const Matches& matches) const;
  // Returns the texts of the entries of the dynamic section with these tags.
  std::vector<std::string> texts_of(const std::vector<std::int64_t>& tags) const;

  Fd file_;
  Elf64_Ehdr header_{};
  bool readable_ = false;
};

}  // namespace distrun::base
