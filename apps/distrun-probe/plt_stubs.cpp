#include "plt_stubs.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace distrun::probe {
namespace {

constexpr std::uint64_t kUsualSize = 16;

std::string_view name_of(Elf* elf, const GElf_Shdr& header) {
  std::size_t names = 0;
  const char* name = elf_getshdrstrndx(elf, &names) == 0 ? elf_strptr(elf, names, header.sh_name) : nullptr;
  return name == nullptr ? "" : name;
}

// Returns the operand's offset of "jmp *disp32(%rip)" in an x86-64 stub, after optional endbr64 and bnd prefix.
std::optional<std::uint64_t> operand_of_jump(const unsigned char* stub, std::uint64_t size) {
  static constexpr unsigned char kEndbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
  std::uint64_t at = size >= sizeof kEndbr64 && std::memcmp(stub, kEndbr64, sizeof kEndbr64) == 0 ? sizeof kEndbr64 : 0;
  if (at < size && stub[at] == 0xf2) ++at;
  if (at + 2 + sizeof(std::int32_t) > size || stub[at] != 0xff || stub[at + 1] != 0x25) return std::nullopt;
  return at + 2;
}

bool is_x86_64(Elf* elf) {
  GElf_Ehdr header;
  return gelf_getehdr(elf, &header) != nullptr && header.e_machine == EM_X86_64;
}

}  // namespace

PltStubs::PltStubs(Dwfl_Module* module) {
  GElf_Addr bias = 0;
  Elf* elf = dwfl_module_getelf(module, &bias);
  bias_ = bias;
  const bool is_known = elf != nullptr && is_x86_64(elf);
  for (Elf_Scn* section = nullptr; elf != nullptr && (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) continue;
    if (name_of(elf, header).starts_with(".plt")) add_stubs(section, header);
    if (is_known && header.sh_type == SHT_RELA && (header.sh_flags & SHF_ALLOC) != 0) add_slots(elf, section, header);
  }
}

void PltStubs::add_stubs(Elf_Scn* section, const GElf_Shdr& header) {
  Elf_Data* code = header.sh_type == SHT_PROGBITS ? elf_rawdata(section, nullptr) : nullptr;
  if (code == nullptr || code->d_buf == nullptr) return;
  sections_.push_back({header.sh_addr, header.sh_entsize > 0 ? header.sh_entsize : kUsualSize, code});
}

void PltStubs::add_slots(Elf* elf, Elf_Scn* section, const GElf_Shdr& header) {
  Elf_Data* relocations = elf_getdata(section, nullptr);
  Elf_Scn* symbol_section = elf_getscn(elf, header.sh_link);
  GElf_Shdr symbols;
  if (relocations == nullptr || symbol_section == nullptr || gelf_getshdr(symbol_section, &symbols) == nullptr) return;
  GElf_Rela relocation;
  for (int i = 0; gelf_getrela(relocations, i, &relocation) != nullptr; ++i) {
    const auto index = static_cast<int>(GELF_R_SYM(relocation.r_info));
    GElf_Sym symbol;
    if (index == 0 || gelf_getsym(elf_getdata(symbol_section, nullptr), index, &symbol) == nullptr) continue;
    const char* name = elf_strptr(elf, symbols.sh_link, symbol.st_name);
    if (name != nullptr && *name != '\0') slots_.emplace(relocation.r_offset, name);
  }
}

std::optional<std::string> PltStubs::callee_at(std::uint64_t address) const {
  const std::uint64_t place = address - bias_;
  for (const Section& section : sections_) {
    if (place < section.begin || place - section.begin >= section.code->d_size) continue;
    const std::uint64_t offset = (place - section.begin) / section.stub_size * section.stub_size;
    const std::uint64_t size = std::min<std::uint64_t>(section.stub_size, section.code->d_size - offset);
    return callee_of(section.begin + offset, static_cast<const unsigned char*>(section.code->d_buf) + offset, size);
  }
  return std::nullopt;
}

std::string PltStubs::callee_of(std::uint64_t begin, const unsigned char* stub, std::uint64_t size) const {
  const std::optional<std::uint64_t> operand = operand_of_jump(stub, size);
  if (!operand) return "";
  std::int32_t displacement = 0;
  std::memcpy(&displacement, stub + *operand, sizeof displacement);
  // Relative to the next instruction.
  const std::uint64_t next = begin + *operand + sizeof displacement;
  const auto slot = slots_.find(next + static_cast<std::uint64_t>(std::int64_t{displacement}));
  return slot == slots_.end() ? "" : slot->second;
}

}  // namespace distrun::probe
