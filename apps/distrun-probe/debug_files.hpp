#pragma once
// How libdwfl finds files with code and their separate debug information: on this machine only. libdwfl's own search
// ends with debuginfod, for which it loads a network client and some forty libraries before it even knows whether a
// server is to be asked.
#include <elfutils/libdwfl.h>

namespace distrun::probe {

extern const Dwfl_Callbacks kProcessFiles;  // for the files that a process has mapped
extern const Dwfl_Callbacks kPlainFiles;    // for files by path

}  // namespace distrun::probe
