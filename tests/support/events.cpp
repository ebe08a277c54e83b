#include "events.hpp"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "scratch.hpp"

namespace distrun::testing {

std::map<std::string, std::string> verdicts_in_events(const std::string& path) {
  const std::string text = read_file(path);
  std::map<std::string, std::string> verdicts;
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    const auto event = nlohmann::json::parse(text.substr(begin, end - begin), nullptr, false);
    if (event.is_discarded()) throw std::runtime_error(path + ": a line that is no JSON");
    if (event.at("kind") != "test_end") continue;
    verdicts[event.at("test").get<std::string>()] = event.at("verdict").get<std::string>();
  }
  return verdicts;
}

}  // namespace distrun::testing
