#pragma once
// Names of functions and source lines of addresses in this process: what its programs and libraries tell in memory, and
// by the module of libdw what their files tell, also of functions that nobody else can link to.
#include <cstdint>
#include <span>
#include <vector>

#include <distrun/runtime/symbols/dw_line.hpp>

namespace distrun::symbols {

// Changes whenever a file was unloaded: what was found by address before is worth nothing then. Any thread.
std::uint64_t unload_count() noexcept;
// The file that has the address. An empty path: none. The program itself is kProgram.
inline constexpr char kProgram[] = "/proc/self/exe";
LoadedFile find_loaded(std::uint64_t address);

// In the order of the addresses, which are those of the file. Nothing stays open. One call at a time.
std::vector<NamedPlace> name_places(const LoadedFile& loaded, std::span<const std::uint64_t> addresses);

}  // namespace distrun::symbols
