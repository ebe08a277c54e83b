#include "symbol_file.hpp"

#include <utility>

#include "names.hpp"

namespace distrun::probe {
namespace {

std::string build_id_of(Dwfl_Module* module) {
  static constexpr char kDigits[] = "0123456789abcdef";
  const unsigned char* bytes = nullptr;
  GElf_Addr address = 0;
  const int count = dwfl_module_build_id(module, &bytes, &address);
  std::string text;
  for (int i = 0; i < count; ++i) text += {kDigits[bytes[i] >> 4U], kDigits[bytes[i] & 0xFU]};
  return text;
}

}  // namespace

SymbolFile::SymbolFile(Dwfl_Module* module, std::string path, const NamesCache& cache)
    : module_(module), path_(std::move(path)) {
  if (module_ == nullptr) return;
  dwfl_module_getelf(module_, &bias_);
  // Lines of libc do not help a test's author, and its debug information takes longer to read than all the rest.
  has_opened_ = is_runtime_library(path_);
  if (has_opened_) return;
  build_id_ = build_id_of(module_);
  known_ = cache.read(build_id_);
}

FunctionIndex* SymbolFile::functions() {
  if (!std::exchange(has_opened_, true) && module_ != nullptr) {
    if (Dwarf* dwarf = dwfl_module_getdwarf(module_, &dwarf_bias_)) functions_.emplace(dwarf);
  }
  return functions_ ? &*functions_ : nullptr;
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
  if (!is_new) return place->second;
  const base::TimePoint begin = base::system_clock().now();
  place->second = look_up(offset);
  spent_ += base::system_clock().now() - begin;
  has_more_ = true;
  return place->second;
}

void SymbolFile::keep_names(const NamesCache& cache) {
  // Names that are only symbols do not belong to the build id: debug information may be installed later.
  if (!functions_ || spent_ < cache.worth() || !std::exchange(has_more_, false)) return;
  cache.write(build_id_, known_);
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
  if (FunctionIndex* index = this->functions()) functions = index->find(address - dwarf_bias_);
  if (functions.empty()) functions.emplace_back();
  // g++ omits linkage names of functions local to a file; the symbol table has them.
  Function& holder = functions.back();
  if (holder.has_linkage_name) return functions;
  if (std::string name = symbol_at(address); !name.empty()) holder.name = std::move(name);
  return functions;
}

}  // namespace distrun::probe
