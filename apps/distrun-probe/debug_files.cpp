#include "debug_files.hpp"

#include <unistd.h>

#include <string>

namespace distrun::probe {
namespace {

// Returns whether a linked file exists in one of the places where debuggers look.
bool is_link_there(const std::string& file, const std::string& link) {
  if (link.starts_with('/')) return ::access(link.c_str(), R_OK) == 0;
  const std::string folder = file.substr(0, file.rfind('/') + 1);
  for (const std::string& place : {folder, folder + ".debug/", "/usr/lib/debug" + folder}) {
    if (::access((place + link).c_str(), R_OK) == 0) return true;
  }
  return false;
}

int find_debuginfo(Dwfl_Module* module, void** user_data, const char* name, Dwarf_Addr base, const char* file,
                   const char* link, GElf_Word checksum, char** found) {
  const int fd = dwfl_build_id_find_debuginfo(module, user_data, name, base, file, link, checksum, found);
  if (fd >= 0 || file == nullptr || link == nullptr || !is_link_there(file, link)) return fd;
  return dwfl_standard_find_debuginfo(module, user_data, name, base, file, link, checksum, found);
}

}  // namespace

const Dwfl_Callbacks kProcessFiles{dwfl_linux_proc_find_elf, find_debuginfo, nullptr, nullptr};
const Dwfl_Callbacks kPlainFiles{dwfl_build_id_find_elf, find_debuginfo, nullptr, nullptr};

}  // namespace distrun::probe
