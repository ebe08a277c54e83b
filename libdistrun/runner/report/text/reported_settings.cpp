#include <distrun/runner/report/text/reported_settings.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace distrun::report {
namespace {

// Reduces KEY=VALUE of one of the variables to KEY.
void hide_value(std::string& word, std::size_t from, const std::vector<wire::KeyValue>& env) {
  const bool is_one = std::any_of(env.begin(), env.end(), [&](const wire::KeyValue& pair) {
    return word.compare(from, std::string::npos, pair.key + "=" + pair.value) == 0;
  });
  if (is_one) word.resize(word.find('=', from));
}

}  // namespace

runner::Settings reported(const runner::Settings& settings) {
  runner::Settings told = settings;
  if (told.env.empty() || told.env_values) return told;
  const std::string option = "--env";
  for (std::size_t i = 0; i < told.command_line.size(); ++i) {
    std::string& word = told.command_line[i];
    if (word.starts_with(option + "=")) hide_value(word, option.size() + 1, settings.env);
    if (i > 0 && told.command_line[i - 1] == option) hide_value(word, 0, settings.env);
  }
  for (wire::KeyValue& pair : told.env) pair.value.clear();
  told.env_hidden = true;
  return told;
}

}  // namespace distrun::report
