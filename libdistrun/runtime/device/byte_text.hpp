#pragma once
// Memory sizes as text.
#include <cstddef>
#include <string>

namespace distrun::device {

std::string byte_text(std::size_t bytes);  // "512 bytes", "1.5 KiB", "20.0 MiB"

}  // namespace distrun::device
