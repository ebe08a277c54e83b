#pragma once
// The mappings of a process: where its stacks end, and which files it runs code from. Processes with the same code at
// the same addresses (ranks forked from one zygote) have equal code signatures.
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace distrun::probe {

struct Mapping {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  bool executable = false;
  bool vdso = false;  // code of the kernel, mostly for reading the clock
};

class Mappings {
 public:
  // Reads /proc/TID/maps of one of its threads; empty on failure.
  static Mappings of(pid_t tid);
  // Parses the text of that file.
  static Mappings parse(std::string_view text);

  bool empty() const noexcept { return mappings_.empty(); }
  // Returns the mapping that holds the address; null if there is no such mapping.
  const Mapping* find(std::uint64_t address) const noexcept;
  bool is_code(std::uint64_t address) const noexcept;
  const std::string& code_signature() const noexcept { return code_signature_; }
  // Returns the size of the largest file with code, in bytes; 0: none can be seen.
  std::uint64_t largest_code_file() const;

 private:
  void add_line(std::string_view line);

  std::vector<Mapping> mappings_;  // by address
  std::string code_signature_;
};

}  // namespace distrun::probe
