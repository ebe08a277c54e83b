#pragma once
// Names that live until the process ends, as waits and futures show them. Those that were asked for once are kept, up
// to a limit, beyond which all are "other": names also come from other ranks.
#include <string_view>

namespace distrun::rpc {

// Any thread.
const char* lasting_name(std::string_view name);

}  // namespace distrun::rpc
