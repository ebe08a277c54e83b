#include <distrun/plugin/rank/modules.hpp>

#include <dlfcn.h>
#include <link.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstddef>
#include <cstdio>

namespace distrun::rank {
namespace {

// The loader gives the program an empty name. Made absolute once, since a test may change the directory.
char program_path[2 * PATH_MAX];

void remember_program() {
  if (program_path[0] != '\0') return;
  const auto* name = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
  if (name == nullptr) return;
  char directory[PATH_MAX];
  const bool relative = name[0] != '/' && ::getcwd(directory, sizeof directory) != nullptr;
  std::snprintf(program_path, sizeof program_path, "%s%s%s", relative ? directory : "", relative ? "/" : "", name);
}

const char* path_of(const char* loaded_name) noexcept { return *loaded_name == '\0' ? program_path : loaded_name; }

}  // namespace

#if defined(__GLIBC_PREREQ) && __GLIBC_PREREQ(2, 35) && !defined(DISTRUN_WITHOUT_DL_FIND_OBJECT)

void remember_modules() { remember_program(); }

bool find_module(std::uint64_t address, Module& module) noexcept {
  dl_find_object found{};
  if (::_dl_find_object(reinterpret_cast<void*>(address), &found) != 0) return false;
  module.start = reinterpret_cast<std::uint64_t>(found.dlfo_map_start);
  module.end = reinterpret_cast<std::uint64_t>(found.dlfo_map_end);
  module.bias = found.dlfo_link_map->l_addr;
  module.path = path_of(found.dlfo_link_map->l_name);
  return true;
}

#else

namespace {

struct Table {
  std::array<Module, 512> modules{};
  std::size_t count = 0;
};
Table table;

int remember(dl_phdr_info* info, std::size_t, void*) {
  Module module{UINT64_MAX, 0, info->dlpi_addr, path_of(info->dlpi_name)};
  for (const auto* header = info->dlpi_phdr; header != info->dlpi_phdr + info->dlpi_phnum; ++header) {
    if (header->p_type != PT_LOAD) continue;
    const std::uint64_t start = info->dlpi_addr + header->p_vaddr;
    module.start = start < module.start ? start : module.start;
    module.end = start + header->p_memsz > module.end ? start + header->p_memsz : module.end;
  }
  if (table.count < table.modules.size()) table.modules[table.count++] = module;
  return 0;
}

}  // namespace

void remember_modules() {
  remember_program();
  table.count = 0;
  ::dl_iterate_phdr(remember, nullptr);
}

bool find_module(std::uint64_t address, Module& module) noexcept {
  for (std::size_t i = 0; i < table.count; ++i) {
    const Module& known = table.modules[i];
    if (address < known.start || address >= known.end) continue;
    module = known;
    return true;
  }
  return false;
}

#endif

}  // namespace distrun::rank
