/* The interface between a plugin's SDK and the runtime, libdistrun.so.1, if the plugin is linked with it
 * (distrun_add_plugin(NAME RUNTIME ...)). The SDK is static and works without: then the functions are null. */
#ifndef DISTRUN_SDK_RUNTIME_H
#define DISTRUN_SDK_RUNTIME_H

#include <distrun/plugin/sdk/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Called before and after the plugin's code runs for a rank, on the rank's thread. `rank` is valid until detach
 * returns. */
__attribute__((weak, visibility("default"))) void distrun_runtime_attach(const distrun_rank* rank);
__attribute__((weak, visibility("default"))) void distrun_runtime_detach(const distrun_rank* rank);

/* Everything that the attached `rank` has open now (groups, a session of RPC) belongs to its suite: detach leaves it
 * open until release is called. */
__attribute__((weak, visibility("default"))) void distrun_runtime_keep(const distrun_rank* rank);
__attribute__((weak, visibility("default"))) void distrun_runtime_release(const distrun_rank* rank);

/* Reads the debug level of groups from $TORCH_DISTRIBUTED_DEBUG again, and stores the previous one in `before` for
 * restore. Returns DISTRUN_INVALID if the variable is not OFF, INFO or DETAIL, else DISTRUN_OK. */
__attribute__((weak, visibility("default"))) int32_t distrun_runtime_read_debug_level(int32_t* before);
__attribute__((weak, visibility("default"))) void distrun_runtime_restore_debug_level(int32_t before);

/* Binds the calling thread to the attached `rank` until unbind(), which gets the result of bind(). */
__attribute__((weak, visibility("default"))) void* distrun_runtime_bind(const distrun_rank* rank);
__attribute__((weak, visibility("default"))) void distrun_runtime_unbind(void* before);

/* Whether the calling thread may wait for other ranks. If it returns DISTRUN_INVALID, `why` gets the text of the error,
 * which names what the thread does: `doing`, "waits in a barrier". */
__attribute__((weak, visibility("default"))) int32_t distrun_runtime_may_wait(distrun_string doing, distrun_sink why,
                                                                              void* context);

/* Calls `add` for each process-group backend of the runtime; version 0.0.0 means unknown. */
__attribute__((weak, visibility("default"))) void distrun_runtime_backends(
    void* context, void (*add)(void* context, distrun_string name, int32_t major, int32_t minor, int32_t patch));

#ifdef __cplusplus
}
#endif
#endif
