#pragma once
// Modules: parts of distrun that need what most machines lack (CUDA, gloo) or few processes use (libdw). Each is a
// shared object in lib/distrun/, beside libdistrun.so.1, and is opened at its first use: a zygote that had used CUDA
// could not be forked, and most processes need no module.
#include <string>

namespace distrun::core {

struct ModuleName {
  const char* part;   // "CUDA"
  const char* file;   // "distrun_cuda.so"
  const char* entry;  // the symbol to look up
};

struct Module {
  void* entry = nullptr;  // null: not available
  std::string file;
  std::string why_none;  // "this distrun was built without CUDA: there is no distrun/distrun_cuda.so"
};

// Returns whether open_module() would find the file; does not open it.
bool has_module(const ModuleName& name);
// Opens the module, which stays open until the process ends.
Module open_module(const ModuleName& name);

}  // namespace distrun::core
