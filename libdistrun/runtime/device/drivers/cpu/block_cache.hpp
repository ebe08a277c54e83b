#pragma once
// Caches large freed blocks of malloc() for later requests of similar size. The C library returns such blocks to the
// kernel at once, and touching the pages of a new one for the first time costs more than the operators' work on it.
#include <cstddef>

namespace distrun::device {

// Returns a block of at least that many bytes; sets `size` to the block's size, for give_block(). Null if out of
// memory.
void* take_block(std::size_t bytes, std::size_t& size) noexcept;
void give_block(void* block, std::size_t size) noexcept;
// Frees all cached blocks.
void free_kept_blocks() noexcept;

}  // namespace distrun::device
