#include <distrun/plugin/sdk/library.hpp>

#include <dlfcn.h>

#include <utility>

#include <distrun/plugin/sdk/context.hpp>

namespace distrun {
namespace {

// Returns why it cannot be loaded; empty on success.
std::string load(const std::string& file) {
  if (::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr) return "";
  const char* why = ::dlerror();
  return why != nullptr ? why : "the loader reports no reason";
}

}  // namespace

SkipCondition skip_if_no_library(std::string file, std::string reason) {
  return skip_if([file = std::move(file)](const ListContext&) { return !load(file).empty(); }, std::move(reason));
}

void require_library(const std::string& file) {
  const std::string why = load(file);
  if (why.empty()) return;
  this_rank().note("missing library", why);
  skip_as("importerror");
}

}  // namespace distrun
