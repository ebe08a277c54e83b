#include "symbol_file.hpp"

#include <utility>

#include "names.hpp"

namespace distrun::probe {

SymbolFile::SymbolFile(Dwfl_Module* module, std::string path) : module_(module), path_(std::move(path)) {
  if (module_ == nullptr) return;
  dwfl_module_getelf(module_, &bias_);
  // Lines of libc do not help a test's author, and its debug information takes longer to read than all the rest.
  if (is_runtime_library(path_)) return;
  if (Dwarf* dwarf = dwfl_module_getdwarf(module_, &dwarf_bias_)) functions_.emplace(dwarf);
}

bool SymbolFile::may_hold(std::uint64_t offset) const {
  if (module_ == nullptr) return true;
  Dwarf_Addr begin = 0;
  Dwarf_Addr end = 0;
  dwfl_module_info(module_, nullptr, &begin, &end, nullptr, nullptr, nullptr, nullptr);
  return offset + bias_ >= begin && offset + bias_ < end;
}

const std::vector<Function>& SymbolFile::find(std::uint64_t offset) {
  const auto [place, is_new] = known_.try_emplace(offset);
  if (is_new) place->second = look_up(offset);
  return place->second;
}

std::string SymbolFile::symbol_at(std::uint64_t address) {
  if (module_ == nullptr) return "";
  if (!symbols_) symbols_.emplace(module_);
  if (const char* symbol = symbols_->find(address)) return readable_name(symbol);
  if (!stubs_) stubs_.emplace(module_);
  const std::optional<std::string> callee = stubs_->callee_at(address);
  return callee ? readable_name(callee->c_str()) + "@plt" : "";
}

std::vector<Function> SymbolFile::look_up(std::uint64_t offset) {
  const Dwarf_Addr address = offset + bias_;
  std::vector<Function> functions;
  if (functions_) functions = functions_->find(address - dwarf_bias_);
  if (functions.empty()) functions.emplace_back();
  // g++ omits linkage names of functions local to a file; the symbol table has them.
  Function& holder = functions.back();
  if (holder.has_linkage_name) return functions;
  if (std::string name = symbol_at(address); !name.empty()) holder.name = std::move(name);
  return functions;
}

}  // namespace distrun::probe
