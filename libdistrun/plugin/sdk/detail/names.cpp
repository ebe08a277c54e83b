#include <distrun/plugin/sdk/detail/names.hpp>

namespace distrun::detail {
namespace {

const char* flaw_of_characters(std::string_view word) noexcept {
  for (const char c : word) {
    const bool is_plain = static_cast<unsigned char>(c) > ' ' && c != 0x7f;
    if (!is_plain) return "has a space or control character";
  }
  return nullptr;
}

bool has_any_of(std::string_view word, std::string_view characters) noexcept {
  return word.find_first_of(characters) != std::string_view::npos;
}

}  // namespace

const char* flaw_of_name(std::string_view name) noexcept {
  if (name.empty()) return "is empty";
  if (has_any_of(name, "./")) return "has a '.' or '/'";
  return flaw_of_characters(name);
}

const char* flaw_of_key(std::string_view key) noexcept {
  if (key.empty()) return "has no name";
  if (has_any_of(key, "/=,")) return "has a '/', '=' or ',' in its name";
  return flaw_of_characters(key);
}

const char* flaw_of_value(std::string_view value) noexcept {
  if (has_any_of(value, ",")) return "has a ','";
  return flaw_of_characters(value);
}

}  // namespace distrun::detail
