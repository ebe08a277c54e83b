#pragma once
// Large blocks of malloc() that were freed, for those who want one of about the size next. The C library gives such
// blocks back to the kernel at once, and to touch the pages of a new one for the first time costs more than what
// operators do with them.
#include <cstddef>

namespace distrun::device {

// At least that many bytes; `size` becomes the block's own, for give_block(). Null if there is no memory.
void* take_block(std::size_t bytes, std::size_t& size) noexcept;
void give_block(void* block, std::size_t size) noexcept;
// Gives back what is kept.
void free_kept_blocks() noexcept;

}  // namespace distrun::device
