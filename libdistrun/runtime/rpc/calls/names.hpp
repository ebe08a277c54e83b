#pragma once
// Names that live until the process ends, for waits and futures. Each requested name is kept, up to a limit; beyond it
// all further names become "other", since names also come from other ranks.
#include <string_view>

namespace distrun::rpc {

// Thread-safe.
const char* lasting_name(std::string_view name);

}  // namespace distrun::rpc
