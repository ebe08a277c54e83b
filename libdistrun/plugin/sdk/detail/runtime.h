/* Between a plugin's SDK and the runtime, libdistrun.so.1, if the plugin is linked with it (distrun_add_plugin(NAME
 * RUNTIME ...)). The SDK is static and does without: there the functions are null. */
#ifndef DISTRUN_SDK_RUNTIME_H
#define DISTRUN_SDK_RUNTIME_H

#include <distrun/plugin/sdk/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Before and after code of the plugin runs for a rank, on the rank's thread. `rank` is good until detach returns. */
__attribute__((weak, visibility("default"))) void distrun_runtime_attach(const distrun_rank* rank);
__attribute__((weak, visibility("default"))) void distrun_runtime_detach(const distrun_rank* rank);

#ifdef __cplusplus
}
#endif
#endif
