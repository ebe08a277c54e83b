#pragma once
// Memory that processes share: a memfd with a size that is sealed for good. A mapping of a file that its owner makes
// smaller kills, by SIGBUS, each process that touches the bytes beyond the end; so the size is sealed where memory is
// created, and memory of another process is mapped only if it is sealed.
#include <cstddef>
#include <optional>

#include <distrun/common/base/fd.hpp>

namespace distrun::base {

// All zeros. /proc shows `name`. Throws Error{Failed}.
Fd make_sealed_memory(const char* name, std::size_t bytes);
// Returns the size of a descriptor that came from another process. Nothing: it is not sealed memory, or not a
// descriptor, and must not be mapped.
std::optional<std::size_t> sealed_size(int fd) noexcept;

}  // namespace distrun::base
