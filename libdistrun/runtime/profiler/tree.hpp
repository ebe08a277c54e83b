#pragma once
// The nesting of events.
#include <distrun/runtime/profiler/event.hpp>

namespace distrun::profiler {

// Sets parents, children and self values of events, which must be in the order in which they began. Events of one
// thread are nested if one lasts as long as the other or longer; asynchronous ones are not.
void build_tree(Events& events);

}  // namespace distrun::profiler
