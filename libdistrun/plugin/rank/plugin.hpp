#pragma once
// A loaded plugin: the program's side of the C interface (plugin/sdk/plugin.h).
#include <string>

#include <distrun/plugin/sdk/plugin.h>
#include <distrun/common/wire/plugin_table.hpp>

namespace distrun::rank {

class Plugin {
 public:
  // Loads the plugin and gets its entry. Throws Error{InvalidArgument} that says what is wrong with the file: missing,
  // not a shared object, no entry, another ABI. Never unloads it.
  explicit Plugin(const std::string& path);

  // Throws Error{Failed} with the plugin's text.
  wire::PluginTable list(const wire::ListOrder& order) const;
  // Returns DISTRUN_OK, _FAILED, _SKIPPED or _NOT_FOUND; anything else is the plugin's fault. Call it repeatedly, or
  // from several threads at once, only if the table allows it.
  std::int32_t run(const std::string& test_id, const distrun_rank& rank) const;
  // Notifies the plugin that the rank gets no further test. Returns DISTRUN_OK or _FAILED.
  std::int32_t leave(const distrun_rank& rank) const;
  // Like run(), in the host of a suite.
  std::int32_t set_up_host(const std::string& suite, const distrun_rank& host) const;
  std::int32_t tear_down_host(const std::string& suite, const distrun_rank& host) const;

 private:
  std::string path_;
  distrun_plugin plugin_{};
};

inline distrun_string view(const std::string& text) noexcept { return {text.data(), text.size()}; }
inline std::string text_of(distrun_string text) {
  return text.size == 0 ? std::string() : std::string(text.data, text.size);
}

}  // namespace distrun::rank
