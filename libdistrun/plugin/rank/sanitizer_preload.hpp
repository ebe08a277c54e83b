#pragma once
// Supports plugins built with the address, leak or thread sanitizer in a distrun built without. The sanitizer's runtime
// must be loaded first, and distrun-rank lacks it; so distrun-rank restarts itself with the runtime preloaded.
namespace distrun::rank {

// If `plugin` needs such a runtime that is not loaded, executes distrun-rank again with the same arguments and the
// runtime preloaded. Call it before anything is opened. In the restarted process, it only restores the variables.
// Ignores a file that is not a plugin: loading it reports the reason.
void preload_sanitizer(const char* plugin, char** arguments);

}  // namespace distrun::rank
