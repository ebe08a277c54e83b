#pragma once
// The PLT stubs through which a file calls functions of other files. The linker creates them without symbols; the
// relocation of the slot that a stub jumps through names the function. One thread at a time.
#include <elfutils/libdwfl.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace distrun::probe {

class PltStubs {
 public:
  // `module` must outlive this.
  explicit PltStubs(Dwfl_Module* module);

  // Returns the linkage name of the function that the stub at an address of the module calls. Empty if the stub does
  // not show it (the first stub, which lets the loader find a function, and all stubs on machines other than x86-64).
  // Returns nullopt if there is no stub.
  std::optional<std::string> callee_at(std::uint64_t address) const;

 private:
  struct Section {
    std::uint64_t begin;
    std::uint64_t stub_size;
    Elf_Data* code;
  };
  void add_stubs(Elf_Scn* section, const GElf_Shdr& header);
  void add_slots(Elf* elf, Elf_Scn* section, const GElf_Shdr& header);
  std::string callee_of(std::uint64_t begin, const unsigned char* stub, std::uint64_t size) const;

  std::uint64_t bias_ = 0;  // from the file's addresses to the module's
  std::vector<Section> sections_;
  std::map<std::uint64_t, std::string> slots_;  // by address
};

}  // namespace distrun::probe
