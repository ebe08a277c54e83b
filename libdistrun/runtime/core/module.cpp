#include <distrun/runtime/core/module.hpp>

#include <dlfcn.h>
#include <unistd.h>

namespace distrun::core {
namespace {

// Returns the folder of the file with this code: libdistrun.so.1, or a program that the runtime is linked into.
std::string own_folder() {
  Dl_info info;
  if (::dladdr(reinterpret_cast<const void*>(&own_folder), &info) == 0 || info.dli_fname == nullptr) return ".";
  const std::string file = info.dli_fname;
  const std::size_t slash = file.rfind('/');
  return slash == std::string::npos ? "." : file.substr(0, slash);
}

// Searches beside libdistrun.so.1, and, for a program in bin, in the lib folder beside bin.
std::string find(const char* name) {
  for (const char* folder : {"/distrun/", "/../lib/distrun/"}) {
    std::string file = own_folder() + folder + name;
    if (::access(file.c_str(), R_OK) == 0) return file;
  }
  return "";
}

}  // namespace

bool has_module(const ModuleName& name) { return !find(name.file).empty(); }

Module open_module(const ModuleName& name) {
  const std::string part = name.part;
  const std::string file = find(name.file);
  if (file.empty()) {
    return {nullptr, "", "this distrun was built without " + part + ": there is no distrun/" + name.file};
  }
  void* library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return {nullptr, file, "the " + part + " module cannot be loaded: " + std::string(::dlerror())};
  }
  void* entry = ::dlsym(library, name.entry);
  if (entry == nullptr) return {nullptr, file, file + " is not a " + part + " module of distrun"};
  return {entry, file, ""};
}

}  // namespace distrun::core
