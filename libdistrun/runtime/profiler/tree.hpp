#pragma once
// Which event is within which.
#include <distrun/runtime/profiler/event.hpp>

namespace distrun::profiler {

// Of events in the order in which they began: parents, children and what is each one's own. Within each other are
// events of one thread, if one lasts as long as the other or longer; those that are asynchronous are within none.
void build_tree(Events& events);

}  // namespace distrun::profiler
