#include "code_object.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "line_table.hpp"

namespace distrun::probe::python {
namespace {

constexpr std::size_t kNameMax = 200;  // characters
constexpr std::size_t kFileMax = 400;
constexpr std::int64_t kTableMax = std::int64_t{64} << 10;  // bytes; more than that of any function written by hand
constexpr std::size_t kCodesMax = 4096;                     // bounds the memory for their texts

void append_utf8(std::string& text, std::uint32_t code) {
  const bool is_surrogate = code >= 0xd800 && code < 0xe000;  // a byte of a file name that is not UTF-8
  if (is_surrogate || code > 0x10ffff) code = 0xfffd;
  const auto add = [&text](std::uint32_t byte) { text += static_cast<char>(byte); };
  if (code < 0x80) return add(code);
  if (code < 0x800) {
    add(0xc0U | (code >> 6U));
  } else if (code < 0x10000) {
    add(0xe0U | (code >> 12U));
    add(0x80U | ((code >> 6U) & 0x3fU));
  } else {
    add(0xf0U | (code >> 18U));
    add(0x80U | ((code >> 12U) & 0x3fU));
    add(0x80U | ((code >> 6U) & 0x3fU));
  }
  add(0x80U | (code & 0x3fU));
}

std::string read_table(ForeignMemory& memory, Address object) {
  const std::int64_t size = memory.value<std::int64_t>(object + kObjectSize).value_or(0);
  if (size <= 0 || size > kTableMax) return "";
  std::string table(static_cast<std::size_t>(size), '\0');
  return memory.read(object + kBytesData, table.data(), table.size()) ? table : "";
}

template <class Value>
Value field(const std::array<std::byte, kCodeSize>& object, std::int32_t offset) {
  Value value;
  std::memcpy(&value, object.data() + offset, sizeof value);
  return value;
}

}  // namespace

// The state of a string has, from the lowest bit: 2 of interning, 3 of the size of a character, compact, ASCII.
std::string read_text(ForeignMemory& memory, const Layout& layout, Address object, std::size_t limit) {
  const auto length = memory.value<std::int64_t>(object + kObjectSize);
  const auto state = memory.value<std::uint32_t>(object + kTextState);
  if (object == 0 || !length || !state || *length <= 0) return "";
  const std::size_t width = (*state >> 2U) & 7U;
  const bool is_compact = ((*state >> 5U) & 1U) != 0;
  const bool is_ascii = ((*state >> 6U) & 1U) != 0;
  if (!is_compact || (width != 1 && width != 2 && width != 4) || *length > (INT64_C(1) << 40)) return "";
  const auto all = static_cast<std::size_t>(*length);
  const std::size_t count = std::min(all, limit);
  const Address data = object + static_cast<Address>(is_ascii ? layout.text_ascii : layout.text_compact);
  std::string bytes(count * width, '\0');
  if (!memory.read(data + (all - count) * width, bytes.data(), bytes.size())) return "";
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += width) {
    std::uint32_t code = 0;
    std::memcpy(&code, bytes.data() + at, width);  // the lowest byte comes first
    append_utf8(text, code);
  }
  return text;
}

std::uint32_t Code::line_of(const Layout& layout, std::int64_t instruction) const {
  std::int64_t offset = instruction;
  if (layout.line_format == LineFormat::Ranges) offset = 2 * instruction;
  if (layout.line_format == LineFormat::Locations) offset = instruction - static_cast<std::int64_t>(bytecode);
  const auto line = line_at(layout.line_format, table, first_line, offset);
  return line.value_or(first_line > 0 ? static_cast<std::uint32_t>(first_line) : 0);
}

std::optional<CodeObjects::Fields> CodeObjects::read_fields(ForeignMemory& memory, Address object) const {
  std::array<std::byte, kCodeSize> bytes{};
  if (object == 0 || !memory.read(object, bytes.data(), bytes.size())) return std::nullopt;
  if (type_ != 0 && field<Address>(bytes, kObjectType) != type_) return std::nullopt;
  return Fields{field<Address>(bytes, layout_.code_name), field<Address>(bytes, layout_.code_file),
                field<Address>(bytes, layout_.code_table), field<std::int32_t>(bytes, layout_.code_line)};
}

std::shared_ptr<const Code> CodeObjects::find(ForeignMemory& memory, Address object) {
  const auto fields = read_fields(memory, object);
  if (!fields) return nullptr;
  const auto known = known_.find(object);
  if (known != known_.end() && known->second.fields == *fields) return known->second.code;
  if (known == known_.end() && known_.size() >= kCodesMax) return nullptr;
  Code code;
  code.function = read_text(memory, layout_, fields->name, kNameMax);
  code.file = read_text(memory, layout_, fields->file, kFileMax);
  if (code.function.empty()) code.function = "?";
  code.table = read_table(memory, fields->table);
  code.first_line = fields->first_line;
  if (layout_.code_bytecode >= 0) code.bytecode = object + static_cast<Address>(layout_.code_bytecode);
  Known& entry = known_[object];
  entry = {*fields, std::make_shared<const Code>(std::move(code))};
  return entry.code;
}

}  // namespace distrun::probe::python
