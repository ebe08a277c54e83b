#pragma once
// Lets libdwfl find code files and separate debug information on this machine only. libdwfl's default search ends with
// debuginfod, which loads a network client and some forty libraries even if no server is configured.
#include <elfutils/libdwfl.h>

namespace distrun::probe {

extern const Dwfl_Callbacks kProcessFiles;  // for the files mapped by a process
extern const Dwfl_Callbacks kPlainFiles;    // for files by path

}  // namespace distrun::probe
