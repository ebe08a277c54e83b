#pragma once
// Shared memory: a memfd with a permanently sealed size. If the owner of a mapped file shrinks it, each process that
// touches bytes beyond the end dies by SIGBUS. So the size is sealed at creation, and memory of another process is
// mapped only if it is sealed.
#include <cstddef>
#include <optional>

#include <distrun/common/base/fd.hpp>

namespace distrun::base {

// Returns zeroed memory; /proc shows `name`. Throws Error{Failed}.
Fd make_sealed_memory(const char* name, std::size_t bytes);
// Returns the size of a descriptor that another process sent. Returns nullopt if it is not sealed memory, or not a
// descriptor; then it must not be mapped.
std::optional<std::size_t> sealed_size(int fd) noexcept;

}  // namespace distrun::base
