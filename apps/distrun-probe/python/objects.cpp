#include "objects.hpp"

#include <array>
#include <cstring>

#include "code_object.hpp"

namespace distrun::probe::python {
namespace {

constexpr std::size_t kTypeNameMax = 32;
constexpr std::size_t kEntriesMax =
    16'384;                                // of a dictionary; programs with all of torch have some thousands of modules
constexpr std::size_t kSlotsMax = 65'536;  // of a set

constexpr Address kTypeName = 24;  // a C string
constexpr Address kDictKeys = 32;
constexpr Address kDictValues = 40;     // null: the values are beside their keys
constexpr Address kKeysIndexBytes = 9;  // as a power of two
constexpr Address kKeysKind = 10;       // 0: with hashes; else texts only
constexpr Address kKeysEntries = 24;
constexpr Address kKeysIndices = 32;  // then the entries
constexpr Address kSetMask = 32;
constexpr Address kSetTable = 40;      // pairs of an object and its hash
constexpr Address kObjectValues = 32;  // before the object: its attributes, in the order of their first assignment
constexpr Address kObjectDict = 24;    // before the object, if it has no such values

bool is_key(ForeignMemory& memory, const Layout& layout, Address object, std::string_view key) {
  const auto length = memory.value<std::int64_t>(object + kObjectSize);
  if (object == 0 || !length || *length != static_cast<std::int64_t>(key.size())) return false;
  return read_text(memory, layout, object, key.size()) == key;
}

}  // namespace

bool is_of_type(ForeignMemory& memory, Address object, std::string_view type) {
  const Address name = object == 0 ? 0 : memory.pointer(memory.pointer(object + kObjectType) + kTypeName);
  std::array<char, kTypeNameMax> text{};
  if (name == 0 || type.size() >= text.size() || !memory.read(name, text.data(), type.size() + 1)) return false;
  return std::string_view(text.data(), type.size() + 1) == std::string(type) + '\0';
}

Address dict_value(ForeignMemory& memory, const Layout& layout, Address dict, std::string_view key) {
  if (!is_of_type(memory, dict, "dict") || memory.pointer(dict + kDictValues) != 0) return 0;
  const Address keys = memory.pointer(dict + kDictKeys);
  const auto index_bytes = memory.value<std::uint8_t>(keys + kKeysIndexBytes);
  const auto kind = memory.value<std::uint8_t>(keys + kKeysKind);
  const auto count = memory.value<std::uint64_t>(keys + kKeysEntries);
  if (!index_bytes || !kind || !count || *index_bytes > 20 || *count > kEntriesMax) return 0;
  const std::size_t words = *kind == 0 ? 3 : 2;
  const Address entries = keys + kKeysIndices + (Address{1} << *index_bytes);
  std::vector<Address> table(*count * words);
  if (!memory.read(entries, table.data(), table.size() * sizeof(Address))) return 0;
  for (std::size_t at = words - 2; at + 1 < table.size(); at += words) {
    if (is_key(memory, layout, table[at], key)) return table[at + 1];
  }
  return 0;
}

std::vector<Address> set_members(ForeignMemory& memory, Address set) {
  if (!is_of_type(memory, set, "set")) return {};
  const auto mask = memory.value<std::uint64_t>(set + kSetMask);
  if (!mask || *mask >= kSlotsMax) return {};
  std::vector<Address> table(2 * (*mask + 1));
  if (!memory.read(memory.pointer(set + kSetTable), table.data(), table.size() * sizeof(Address))) return {};
  std::vector<Address> members;
  for (std::size_t at = 0; at < table.size(); at += 2) {
    if (table[at] != 0) members.push_back(table[at]);
  }
  return members;
}

// WeakSet's constructor sets `data` first.
Address weak_set_data(ForeignMemory& memory, const Layout& layout, Address weak_set) {
  if (!is_of_type(memory, weak_set, "WeakSet")) return 0;
  const Address values = memory.pointer(weak_set - kObjectValues);
  if (values != 0) return memory.pointer(values);
  return dict_value(memory, layout, memory.pointer(weak_set - kObjectDict), "data");
}

}  // namespace distrun::probe::python
