#pragma once
// Function names and source lines of addresses in this process: from the symbols in memory, and with the libdw module
// from the files, which also name functions that are not exported.
#include <cstdint>
#include <span>
#include <vector>

#include <distrun/runtime/symbols/dw_line.hpp>

namespace distrun::symbols {

// Changes whenever a file is unloaded, which invalidates earlier look-ups by address. Any thread.
std::uint64_t unload_count() noexcept;
// Returns the file that holds the address, or an empty path. The path of the program itself is kProgram.
inline constexpr char kProgram[] = "/proc/self/exe";
LoadedFile find_loaded(std::uint64_t address);

// Returns places in the order of `addresses`, which are relative to the file. Keeps nothing open. Not thread-safe.
std::vector<NamedPlace> name_places(const LoadedFile& loaded, std::span<const std::uint64_t> addresses);

}  // namespace distrun::symbols
