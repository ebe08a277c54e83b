#pragma once
// Modules: parts of distrun that need what most machines lack (CUDA, gloo) or few processes use (libdw). Each is a
// shared object in lib/distrun/, beside libdistrun.so.1, that is opened when it is first asked for and not before: a
// zygote that had touched CUDA could not be forked, and most processes need none.
#include <string>

namespace distrun::core {

struct ModuleName {
  const char* part;   // "CUDA"
  const char* file;   // "distrun_cuda.so"
  const char* entry;  // the symbol that is asked for
};

struct Module {
  void* entry = nullptr;  // null: there is none
  std::string file;
  std::string why_none;  // "this distrun was built without CUDA: there is no distrun/distrun_cuda.so"
};

// Whether open_module() would find its file, which is not opened.
bool has_module(const ModuleName& name);
// Stays open until the process ends.
Module open_module(const ModuleName& name);

}  // namespace distrun::core
