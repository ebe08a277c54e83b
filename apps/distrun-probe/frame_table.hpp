#pragma once
// Converts addresses to frames for the coordinator. Equal frames share one index; new ones are sent as a table. A file
// is opened once, even if several processes map it. One thread at a time, but for warm().
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <distrun/common/wire/stacks.hpp>

#include "code_space.hpp"
#include "symbol_file.hpp"

namespace distrun::probe {

class FrameTable {
 public:
  explicit FrameTable(NamesCache cache = {}) : cache_(std::move(cache)) {}

  // Returns the indices of the frames at an address, inlined functions first. The space must outlive the table.
  std::vector<std::uint32_t> add(const CodeSpace& space, const Frame& frame);
  // Opens the file that holds the code, and looks the address up, so that add() will find it at once. May run beside
  // add_address().
  void warm(const CodeSpace& space, const Frame& frame);
  // Returns the index of a frame without names, which takes no time.
  std::uint32_t add_address(const CodeSpace& space, const Frame& frame);
  // Returns the index of a Python frame, with the module wire::kPythonModule.
  std::uint32_t add_script(const std::string& function, const std::string& file, std::uint32_t line);
  // The same as the first for an address reported by another process, with the files that were mapped there.
  std::vector<std::uint32_t> add(const std::vector<wire::RawModule>& modules, std::uint64_t pc);

  const wire::StackFrame& operator[](std::uint32_t index) const { return frames_[index]; }
  // Adds names that took long to find to the cache. Not beside warm().
  void keep_names();
  // Returns the frames added since the last call.
  wire::StackTable take_new();

 private:
  using Key = std::pair<std::uint64_t, const SymbolFile*>;

  SymbolFile& file_of(const CodeSpace& space, Dwfl_Module* module);
  SymbolFile& file_of(const std::string& path);
  // `file` is null for code without a file.
  std::vector<std::uint32_t> intern(SymbolFile* file, const wire::StackFrame& frame);
  std::vector<std::uint32_t> append(SymbolFile* file, const wire::StackFrame& frame);

  const NamesCache cache_;
  std::map<std::string, SymbolFile> files_;  // by path
  std::vector<DwflPointer> opened_;          // for files that no process here has mapped
  std::map<Key, std::vector<std::uint32_t>> known_;
  std::map<std::pair<std::uint64_t, std::string>, std::uint32_t> addresses_;  // frames without names, by pc and file
  std::map<std::tuple<std::string, std::string, std::uint32_t>, std::uint32_t> scripts_;
  std::vector<wire::StackFrame> frames_;
  std::size_t sent_ = 0;
};

}  // namespace distrun::probe
