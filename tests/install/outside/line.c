/* The C line is plain C11: this includes it and uses what is in it. */
#include <distrun/plugin/sdk/plugin.h>

int main(void) {
  const distrun_loader host = {sizeof host, DISTRUN_ABI};
  distrun_plugin plugin = {0};
  distrun_plugin_entry_t entry = 0;
  return entry != 0 && entry(&host, &plugin) != DISTRUN_OK;
}
