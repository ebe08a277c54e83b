#include <distrun/common/base/text.hpp>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace distrun::base {
namespace {

bool is_continuation(std::string_view bytes, std::size_t at) {
  return at < bytes.size() && (static_cast<unsigned char>(bytes[at]) & 0xc0U) == 0x80U;
}

// Returns the length of the well-formed UTF-8 sequence at `at` (Unicode 15, table 3-7), 0 if there is none.
std::size_t sequence_length(std::string_view bytes, std::size_t at) {
  const auto lead = static_cast<unsigned char>(bytes[at]);
  if (lead < 0x80) return 1;
  const auto second = at + 1 < bytes.size() ? static_cast<unsigned char>(bytes[at + 1]) : 0;
  if (!is_continuation(bytes, at + 1)) return 0;
  if (lead >= 0xc2 && lead <= 0xdf) return 2;
  if (lead >= 0xe0 && lead <= 0xef) {
    if (lead == 0xe0 && second < 0xa0) return 0;
    if (lead == 0xed && second > 0x9f) return 0;
    return is_continuation(bytes, at + 2) ? 3 : 0;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    if (lead == 0xf0 && second < 0x90) return 0;
    if (lead == 0xf4 && second > 0x8f) return 0;
    return is_continuation(bytes, at + 2) && is_continuation(bytes, at + 3) ? 4 : 0;
  }
  return 0;
}

void append_hex(std::string& out, unsigned value) {
  char text[8];
  std::snprintf(text, sizeof text, "\\x%02x", value);
  out += text;
}

bool is_plain_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::strchr("_-./=:,+@%", c) != nullptr;
}

}  // namespace

std::string valid_utf8(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t length = sequence_length(bytes, at);
    if (length == 0) {
      out += "\xef\xbf\xbd";
      ++at;
    } else {
      out += bytes.substr(at, length);
      at += length;
    }
  }
  return out;
}

std::string printable(std::string_view bytes) {
  const std::string text = valid_utf8(bytes);
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const unsigned c = static_cast<unsigned char>(text[i]);
    const unsigned next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0U;
    if (c == '\r' && next == '\n') continue;
    if (c == 0xc2 && next >= 0x80 && next < 0xa0) {  // C1 controls: a terminal may obey them too
      append_hex(out, next);
      ++i;
    } else if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f) {
      append_hex(out, c);
    } else {
      out += static_cast<char>(c);
    }
  }
  return out;
}

std::string one_line(std::string_view text, std::size_t limit) {
  std::string out;
  bool broken = false;  // a line break was seen; it and the indentation become one space
  for (const char c : printable(text)) {
    if (c == '\n' || c == '\t') {
      broken = true;
      continue;
    }
    if (broken && c == ' ') continue;
    if (broken && !out.empty()) out += ' ';
    broken = false;
    out += c;
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  if (out.size() <= limit) return out;
  std::size_t cut = limit;
  while (cut > 0 && (static_cast<unsigned char>(out[cut]) & 0xc0U) == 0x80U) --cut;
  return out.substr(0, cut) + "...";
}

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

std::string shell_quoted(std::string_view word) {
  bool plain = !word.empty();
  for (const char c : word) plain = plain && is_plain_word_character(c);
  if (plain) return std::string(word);
  std::string out = "'";
  for (const char c : word) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

bool glob_match(std::string_view pattern, std::string_view text) {
  // Greedy with one backtracking point: linear in practice, quadratic at worst, never exponential.
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t star_text = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_text = t;
      continue;
    }
    const bool escaped = p + 1 < pattern.size() && pattern[p] == '\\';
    const std::size_t literal = escaped ? p + 1 : p;
    const bool any = !escaped && p < pattern.size() && pattern[p] == '?';
    if (p < pattern.size() && (any || pattern[literal] == text[t])) {
      p = literal + 1;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
#ifdef DISTRUN_FUZZ_PLANTED_BUG
  if (p < pattern.size() && pattern[p] == '*') ++p;
#else
  while (p < pattern.size() && pattern[p] == '*') ++p;
#endif
  return p == pattern.size();
}

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return name != nullptr ? std::string("SIG") + name : "signal " + std::to_string(signal);
}

std::optional<int> try_find_signal(std::string_view name) {
  for (int signal = 1; signal < NSIG; ++signal) {
    const char* const known = sigabbrev_np(signal);
    if (known == nullptr) continue;
    if (name == known || name == std::string("SIG") + known || name == std::to_string(signal)) return signal;
  }
  return std::nullopt;
}

}  // namespace distrun::base
