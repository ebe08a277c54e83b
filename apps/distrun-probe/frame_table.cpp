#include "frame_table.hpp"

#include "debug_files.hpp"

namespace distrun::probe {
namespace {

// "[vdso: 4711]" is the same for every process.
std::string path_of(Dwfl_Module* module) {
  const std::string name = dwfl_module_info(module, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
  return name.starts_with("[vdso") ? "[vdso]" : name;
}

wire::StackFrame frame_at(const CodePlace& place, const Frame& frame) {
  wire::StackFrame result;
  result.pc = frame.pc;
  result.offset = place.offset;
  result.signal_frame = frame.signal_frame;
  return result;
}

// Opens a session with only that file, at the file's own addresses. Null if it cannot be read.
DwflPointer open_plain(const std::string& path, Dwfl_Module*& module) {
  DwflPointer dwfl(dwfl_begin(&kPlainFiles));
  if (!dwfl) return nullptr;
  dwfl_report_begin(dwfl.get());
  module = dwfl_report_elf(dwfl.get(), path.c_str(), path.c_str(), -1, 0, true);
  if (module != nullptr && dwfl_report_end(dwfl.get(), nullptr, nullptr) == 0) return dwfl;
  module = nullptr;
  return nullptr;
}

}  // namespace

std::vector<std::uint32_t> FrameTable::add(const CodeSpace& space, const Frame& frame) {
  const CodePlace place = space.place_of(frame.pc);
  return intern(place.module != nullptr ? &file_of(space, place.module) : nullptr, frame_at(place, frame));
}

void FrameTable::warm(const CodeSpace& space, const Frame& frame) {
  const CodePlace place = space.place_of(frame.pc);
  if (place.module != nullptr) file_of(space, place.module).find(place.offset);
}

std::uint32_t FrameTable::add_address(const CodeSpace& space, const Frame& frame) {
  const CodePlace place = space.place_of(frame.pc);
  wire::StackFrame result = frame_at(place, frame);
  if (place.module != nullptr) result.module = path_of(place.module);
  const auto next = static_cast<std::uint32_t>(frames_.size());
  const auto [known, is_new] = addresses_.try_emplace({frame.pc, result.module}, next);
  if (is_new) frames_.push_back(std::move(result));
  return known->second;
}

std::uint32_t FrameTable::add_script(const std::string& function, const std::string& file, std::uint32_t line) {
  const auto next = static_cast<std::uint32_t>(frames_.size());
  const auto [known, is_new] = scripts_.try_emplace({function, file, line}, next);
  if (!is_new) return known->second;
  wire::StackFrame& frame = frames_.emplace_back();
  frame.module = wire::kPythonModule;
  frame.function = function;
  frame.file = file;
  frame.line = line;
  return next;
}

std::vector<std::uint32_t> FrameTable::add(const std::vector<wire::RawModule>& modules, std::uint64_t pc) {
  wire::StackFrame result;
  result.pc = pc;
  result.offset = pc;
  const wire::RawModule* nearest = nullptr;  // below the address
  for (const wire::RawModule& module : modules) {
    if (module.bias <= pc && (nearest == nullptr || module.bias > nearest->bias)) nearest = &module;
  }
  if (nearest == nullptr) return intern(nullptr, result);
  SymbolFile& file = file_of(nearest->path);
  if (!file.may_hold(pc - nearest->bias)) return intern(nullptr, result);
  result.offset = pc - nearest->bias;
  return intern(&file, result);
}

void FrameTable::keep_names() {
  for (auto& [path, file] : files_) file.keep_names(cache_);
}

wire::StackTable FrameTable::take_new() {
  wire::StackTable table;
  table.frames.assign(frames_.begin() + static_cast<std::ptrdiff_t>(sent_), frames_.end());
  sent_ = frames_.size();
  return table;
}

SymbolFile& FrameTable::file_of(const CodeSpace& space, Dwfl_Module* module) {
  const std::string path = path_of(module);
  const auto known = files_.find(path);
  if (known != files_.end()) return known->second;
  Dwfl_Module* file = nullptr;
  if (path.ends_with(" (deleted)")) {
    // libdwfl has read it from process memory, which lacks symbols and debug information.
    if (DwflPointer dwfl = open_plain(space.path_of_mapped(module), file)) opened_.push_back(std::move(dwfl));
  }
  return files_.try_emplace(path, file != nullptr ? file : module, path, cache_).first->second;
}

SymbolFile& FrameTable::file_of(const std::string& path) {
  const auto known = files_.find(path);
  if (known != files_.end()) return known->second;
  Dwfl_Module* module = nullptr;
  if (DwflPointer dwfl = open_plain(path, module)) opened_.push_back(std::move(dwfl));
  return files_.try_emplace(path, module, path, cache_).first->second;
}

std::vector<std::uint32_t> FrameTable::intern(SymbolFile* file, const wire::StackFrame& frame) {
  const auto [place, is_new] = known_.try_emplace(Key(frame.pc, file));
  if (is_new) place->second = append(file, frame);
  return place->second;
}

std::vector<std::uint32_t> FrameTable::append(SymbolFile* file, const wire::StackFrame& frame) {
  static const std::vector<Function> kUnknown(1);
  std::vector<std::uint32_t> indices;
  for (const Function& function : file != nullptr ? file->find(frame.offset) : kUnknown) {
    wire::StackFrame& added = frames_.emplace_back(frame);
    if (file != nullptr) added.module = file->path();
    added.function = function.name;
    added.file = function.file;
    added.line = function.line;
    added.inlined = function.inlined;
    added.signal_frame = frame.signal_frame || function.name == "__restore_rt";
    indices.push_back(static_cast<std::uint32_t>(frames_.size() - 1));
  }
  return indices;
}

}  // namespace distrun::probe
