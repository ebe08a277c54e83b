#include <distrun/plugin/sdk/bridge.hpp>

#include <distrun/plugin/sdk/detail/failure.hpp>

namespace distrun::detail {
namespace {

bool is_blank(char c) noexcept { return static_cast<unsigned char>(c) <= ' ' || c == 0x7f; }

std::string escape(std::string_view text, std::string_view forbidden) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string result;
  for (const char c : text) {
    if (!is_blank(c) && c != '%' && forbidden.find(c) == std::string_view::npos) {
      result += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    result += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return result;
}

}  // namespace

std::string escape_name(std::string_view text) { return escape(text, "./"); }

std::string escape_value(std::string_view text) { return escape(text, ","); }

std::string escape_title(std::string_view text) {
  std::string title(text);
  for (char& c : title) {
    if (c == ' ') c = '_';
  }
  return escape_name(title);
}

Caught caught_exception() {
  try {
    throw;
  } catch (const CheckFailed&) {
    return {};
  } catch (const Skip& skip) {
    return {.skip = skip, .failure = {}};
  } catch (...) {
    return {.skip = {}, .failure = current_failure()};
  }
}

void enter_phase(Rank& rank, std::int32_t phase) { rank.line().phase(rank.line().self, phase); }

}  // namespace distrun::detail
