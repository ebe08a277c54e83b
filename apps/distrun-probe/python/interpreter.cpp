#include "interpreter.hpp"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include <distrun/common/base/fd.hpp>
#include <distrun/runner/evidence/proc/mapping_line.hpp>
#include <distrun/runner/evidence/proc/proc_files.hpp>

namespace distrun::probe::python {
namespace {

constexpr std::size_t kMapsMax = std::size_t{16} << 20;

bool is_library(std::string_view name) { return name.starts_with("libpython"); }
bool may_be_interpreter(std::string_view name) { return is_library(name) || name.starts_with("python"); }
std::string_view name_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

void add_mapping(std::string_view line, std::vector<InterpreterFile>& files) {
  const auto mapping = evidence::parse_mapping(line);
  if (!mapping || !may_be_interpreter(name_of(mapping->path))) return;
  const auto known =
      std::find_if(files.begin(), files.end(), [&](const InterpreterFile& each) { return each.path == mapping->path; });
  if (known != files.end()) {
    known->end = std::max(known->end, mapping->end);
  } else if (mapping->offset == 0) {
    files.push_back({std::string(mapping->path), mapping->begin, mapping->end, mapping->end});
  }
}

// ---- the file's symbols

struct EndElf {
  void operator()(Elf* elf) const noexcept { elf_end(elf); }
};

// In the process's view of the file system; or, if it is gone there, by the mapping.
base::Fd open_file(pid_t pid, const InterpreterFile& file) {
  base::Fd opened(::open(evidence::proc_path(pid, "root" + file.path).c_str(), O_RDONLY | O_CLOEXEC));
  if (opened) return opened;
  return base::Fd(::open(evidence::mapped_file(pid, file.begin, file.first_end).c_str(), O_RDONLY | O_CLOEXEC));
}

void take_symbol(std::string_view name, const GElf_Sym& symbol, InterpreterSymbols& found) {
  if (name == "_PyRuntime") found.runtime = symbol.st_value;
  if (name == "Py_Version") found.version = symbol.st_value;
  if (name == "PyCode_Type") found.code_type = symbol.st_value;
  if (name == "_PyEval_EvalFrameDefault") {
    found.loop = symbol.st_value;
    found.loop_size = symbol.st_size;
  }
}

void read_symbols(Elf* elf, Elf_Scn* section, const GElf_Shdr& header, InterpreterSymbols& found) {
  Elf_Data* const symbols = elf_getdata(section, nullptr);
  GElf_Sym symbol;
  for (int i = 0; symbols != nullptr && gelf_getsym(symbols, i, &symbol) != nullptr; ++i) {
    const char* name = symbol.st_value != 0 ? elf_strptr(elf, header.sh_link, symbol.st_name) : nullptr;
    if (name != nullptr) take_symbol(name, symbol, found);
  }
}

// An executable that holds the interpreter may export nothing; a section of its own has the state, from 3.10.
void read_sections(Elf* elf, GElf_Word kind, InterpreterSymbols& found) {
  std::size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) return;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) continue;
    if (header.sh_type == kind) read_symbols(elf, section, header, found);
    const char* name = elf_strptr(elf, names, header.sh_name);
    if (found.runtime == 0 && name != nullptr && std::string_view(name) == ".PyRuntime") found.runtime = header.sh_addr;
  }
}

Address base_of(Elf* elf) {
  std::size_t count = 0;
  if (elf_getphdrnum(elf, &count) != 0) return 0;
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(elf, static_cast<int>(i), &segment) == nullptr) continue;
    if (segment.p_type == PT_LOAD && segment.p_offset == 0) return segment.p_vaddr;
  }
  return 0;
}

std::optional<InterpreterSymbols> read_file(int fd) {
  elf_version(EV_CURRENT);
  const std::unique_ptr<Elf, EndElf> elf(elf_begin(fd, ELF_C_READ_MMAP, nullptr));
  if (!elf || elf_kind(elf.get()) != ELF_K_ELF) return std::nullopt;
  InterpreterSymbols found;
  read_sections(elf.get(), SHT_DYNSYM, found);
  if (found.runtime == 0 || found.loop == 0) read_sections(elf.get(), SHT_SYMTAB, found);
  if (found.runtime == 0) return std::nullopt;
  found.base = base_of(elf.get());
  return found;
}

InterpreterSymbols moved(InterpreterSymbols symbols, Address by) {
  for (Address* each : {&symbols.runtime, &symbols.version, &symbols.loop, &symbols.code_type}) {
    if (*each != 0) *each += by;
  }
  return symbols;
}

}  // namespace

std::vector<InterpreterFile> interpreter_files(std::string_view maps) {
  std::vector<InterpreterFile> files;
  evidence::for_each_line(maps, [&](std::string_view line) { add_mapping(line, files); });
  std::stable_partition(files.begin(), files.end(),
                        [](const InterpreterFile& file) { return is_library(name_of(file.path)); });
  return files;
}

std::optional<InterpreterSymbols> Interpreters::symbols_of(pid_t pid, const InterpreterFile& file) {
  const base::Fd opened = open_file(pid, file);
  struct stat info {};
  if (!opened || ::fstat(opened.get(), &info) != 0) return std::nullopt;
  const std::string key =
      std::to_string(info.st_dev) + " " + std::to_string(info.st_ino) + " " + std::to_string(info.st_mtim.tv_sec);
  const auto [known, is_new] = known_.try_emplace(key);
  if (is_new) known->second = read_file(opened.get());
  return known->second;
}

std::optional<Interpreter> Interpreters::find(pid_t pid) {
  std::optional<Interpreter> old;  // without the state that is read: Python 2, or up to 3.6
  const std::string maps = evidence::read_proc_file(evidence::proc_path(pid, "maps"), kMapsMax).text;
  for (const InterpreterFile& file : interpreter_files(maps)) {
    Interpreter found;
    found.file = file;
    found.version = version_in_name(std::string(name_of(file.path)));
    if (const auto symbols = symbols_of(pid, file)) {
      found.symbols = moved(*symbols, file.begin - symbols->base);
      return found;
    }
    if (!old) old = std::move(found);
  }
  return old;
}

}  // namespace distrun::probe::python
