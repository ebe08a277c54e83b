#include <distrun/runtime/tensor/io/safetensors_header.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <nlohmann/json.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/text.hpp>

namespace distrun::tensor {
namespace {

using Json = nlohmann::ordered_json;  // keeps dtype, shape and data_offsets in this order

constexpr const char* kMetadataKey = "__metadata__";
// In the order of DType.
constexpr std::array<std::string_view, kDTypeCount> kNames{"BOOL", "U8", "I8", "I16", "I32", "I64", "F32", "F64"};

[[noreturn]] void refuse_header(const std::string& text) { throw Error(ErrorKind::InvalidArgument, text); }

std::string in_quotes(const std::string& text) { return "\"" + base::one_line(text) + "\""; }

// ---- reading

DType parse_name(const std::string& tensor, const std::string& name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found != kNames.end()) return static_cast<DType>(found - kNames.begin());
  std::string known;
  for (const std::string_view each : kNames) known += (known.empty() ? "" : ", ") + std::string(each);
  refuse_tensor(tensor, "dtype " + in_quotes(name) + " is not supported; expected " + known +
                            "; convert it before it is written");
}

// The fields of one object of the header, as parsed so far.
struct Described {
  std::optional<DType> dtype;
  std::optional<std::vector<std::uint64_t>> shape, offsets;
};

// Reads the JSON of a header token by token. Anything unexpected stops it, so nothing is built from deep, long or
// malformed input.
class HeaderReader : public nlohmann::json_sax<Json> {
 public:
  std::map<std::string, Described> tensors;
  Metadata metadata;

  bool null() override { misplaced("null"); }
  bool boolean(bool value) override { misplaced(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { misplaced(std::to_string(value)); }
  bool number_float(number_float_t /*value*/, const string_t& text) override { misplaced(text); }
  bool binary(binary_t& /*value*/) override { misplaced("bytes"); }
  bool number_unsigned(number_unsigned_t value) override {
    if (place_ != Place::Numbers) misplaced(std::to_string(value));
    if (numbers_->size() == Dims::kMost) {
      refuse_tensor(name_, field_ + " has more than " + std::to_string(Dims::kMost) + " numbers");
    }
    numbers_->push_back(value);
    return true;
  }
  bool string(string_t& text) override {
    if (place_ == Place::Metadata) {
      metadata[field_] = std::move(text);
    } else if (place_ == Place::Tensor && field_ == "dtype") {
      tensors[name_].dtype = parse_name(name_, text);
    } else {
      misplaced(in_quotes(text));
    }
    return true;
  }
  bool start_object(std::size_t /*elements*/) override {
    if (place_ == Place::Outside) {
      place_ = Place::Header;
    } else if (place_ == Place::Header) {
      place_ = name_ == kMetadataKey ? Place::Metadata : Place::Tensor;
    } else {
      misplaced("an object");
    }
    return true;
  }
  bool key(string_t& text) override {
    if (place_ == Place::Header) {
      begin_member(text);
    } else if (place_ == Place::Metadata) {
      field_ = text;
      if (metadata.contains(field_)) refuse_header("the metadata " + in_quotes(field_) + " is given twice");
    } else {
      begin_field(text);
    }
    return true;
  }
  bool end_object() override {
    if (place_ == Place::Tensor) check_complete();
    place_ = place_ == Place::Header ? Place::Outside : Place::Header;
    return true;
  }
  bool start_array(std::size_t /*elements*/) override {
    if (place_ != Place::Tensor || field_ == "dtype") misplaced("a list");
    place_ = Place::Numbers;
    return true;
  }
  bool end_array() override {
    place_ = Place::Tensor;
    return true;
  }
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/, const Json::exception& error) override {
    refuse_header("the header is not valid JSON: " + base::one_line(error.what()));
  }

 private:
  enum class Place { Outside, Header, Metadata, Tensor, Numbers };

  [[noreturn]] void misplaced(const std::string& what) const {
    if (place_ == Place::Outside) refuse_header("the header must be an object, but is " + what);
    if (place_ == Place::Header)
      refuse_header("what describes " + in_quotes(name_) + " must be an object, but is " + what);
    if (place_ == Place::Metadata)
      refuse_header("the metadata " + in_quotes(field_) + " must be a string, but is " + what);
    if (place_ == Place::Numbers) refuse_tensor(name_, field_ + " must have non-negative integers, but has " + what);
    refuse_tensor(name_, field_ + (field_ == "dtype" ? " must be a string" : " must be a list") + ", but is " + what);
  }
  void begin_member(const std::string& name) {
    name_ = name;
    if (name == kMetadataKey ? std::exchange(has_metadata_, true) : !tensors.try_emplace(name).second) {
      refuse_header("the name " + in_quotes(name) + " is given twice");
    }
  }
  void begin_field(const std::string& field) {
    field_ = field;
    Described& tensor = tensors[name_];
    if (field == "dtype") {
      if (tensor.dtype) refuse_tensor(name_, "dtype is given twice");
      return;
    }
    if (field != "shape" && field != "data_offsets") {
      refuse_tensor(name_, in_quotes(field) + " is not dtype, shape or data_offsets");
    }
    auto& numbers = field == "shape" ? tensor.shape : tensor.offsets;
    if (numbers) refuse_tensor(name_, field + " is given twice");
    numbers_ = &numbers.emplace();
  }
  void check_complete() const {
    const Described& tensor = tensors.at(name_);
    if (!tensor.dtype) refuse_tensor(name_, "it has no dtype");
    if (!tensor.shape) refuse_tensor(name_, "it has no shape");
    if (!tensor.offsets) refuse_tensor(name_, "it has no data_offsets");
  }

  Place place_ = Place::Outside;
  std::string name_, field_;
  std::vector<std::uint64_t>* numbers_ = nullptr;  // receives the numbers of a list
  bool has_metadata_ = false;
};

std::string list_text(const std::vector<std::uint64_t>& numbers) {
  std::string text;
  for (const std::uint64_t each : numbers) text += (text.empty() ? "" : ", ") + std::to_string(each);
  return "[" + text + "]";
}

Dims sizes_of(const std::string& name, const std::vector<std::uint64_t>& shape) {
  Dims sizes;
  for (const std::uint64_t each : shape) {
    if (each > std::numeric_limits<std::int64_t>::max()) {
      refuse_tensor(name, "no tensor can have shape " + list_text(shape));
    }
    sizes.push_back(static_cast<std::int64_t>(each));
  }
  return sizes;
}

// Returns the size of the elements; nothing if no memory can hold them.
std::optional<std::uint64_t> bytes_of(const Dims& sizes, DType dtype) {
  std::uint64_t bytes = size_of(dtype);
  bool is_empty = false, fits = true;
  for (const std::int64_t size : sizes) {
    is_empty |= size == 0;
    if (size > 0) fits &= !__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(size), &bytes);
  }
  if (!fits || bytes > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
  return is_empty ? 0 : bytes;
}

SafetensorsEntry checked_entry(const std::string& name, const Described& told, std::uint64_t data_bytes) {
  const std::vector<std::uint64_t>& offsets = *told.offsets;
  const std::string offsets_text = "data_offsets " + list_text(offsets);
  if (offsets.size() != 2) refuse_tensor(name, offsets_text + " must be two numbers, begin and end");
  SafetensorsEntry entry{name, *told.dtype, sizes_of(name, *told.shape), offsets[0], offsets[1]};
  if (entry.begin > entry.end) refuse_tensor(name, offsets_text + " end before they begin");
#ifndef DISTRUN_FUZZ_PLANTED_BUG
  if (entry.end > data_bytes) {
    refuse_tensor(name, offsets_text + " end beyond the data, which has " + std::to_string(data_bytes) + " bytes");
  }
#endif
  const std::optional<std::uint64_t> bytes = bytes_of(entry.sizes, entry.dtype);
  if (!bytes) refuse_tensor(name, "no tensor can have shape " + list_text(*told.shape));
  if (*bytes != entry.end - entry.begin) {
    refuse_tensor(name, "shape " + list_text(*told.shape) + " of " +
                            std::string(kNames[static_cast<std::size_t>(entry.dtype)]) + " needs " +
                            std::to_string(*bytes) + " bytes, and " + offsets_text + " are " +
                            std::to_string(entry.end - entry.begin));
  }
  return entry;
}

// Checks that entries follow each other from the first byte to the last.
void check_gapless(const std::vector<SafetensorsEntry>& entries, std::uint64_t data_bytes) {
  std::uint64_t end = 0;
  const auto gap = [&end](std::uint64_t until) {
    refuse_header("bytes " + std::to_string(end) + " to " + std::to_string(until) + " of the data belong to no tensor");
  };
  for (const SafetensorsEntry& each : entries) {
    if (each.begin < end) {
      refuse_tensor(each.name, "it begins at byte " + std::to_string(each.begin) +
                                   " of the data, but the tensor before it ends at " + std::to_string(end));
    }
    if (each.begin > end) gap(each.begin);
    end = each.end;
  }
  if (end < data_bytes) gap(data_bytes);
}

// ---- writing

void check_utf8(const std::string& what, const std::string& text) {
  if (base::valid_utf8(text) != text) refuse_header(what + " " + in_quotes(text) + " is not UTF-8");
}

std::string member(const std::string& name, const Json& value) { return Json(name).dump() + ":" + value.dump(); }

std::string member(const SafetensorsEntry& entry) {
  return member(entry.name, {{"dtype", kNames[static_cast<std::size_t>(entry.dtype)]},
                             {"shape", entry.sizes.to_vector()},
                             {"data_offsets", {entry.begin, entry.end}}});
}

void check_names(const std::vector<SafetensorsEntry>& entries) {
  std::set<std::string_view> names;
  for (const SafetensorsEntry& each : entries) {
    check_utf8("the name", each.name);
    if (each.name == kMetadataKey) refuse_header(std::string("no tensor can be called ") + kMetadataKey);
    if (!names.insert(each.name).second) refuse_header("two tensors are called " + in_quotes(each.name));
  }
}

}  // namespace

void refuse_tensor(const std::string& name, const std::string& text) {
  refuse_header("tensor " + in_quotes(name) + ": " + text);
}

SafetensorsHeader parse_safetensors_header(std::string_view json, std::uint64_t data_bytes) {
  if (!json.starts_with('{')) refuse_header("the header does not begin with {, so this is not a safetensors file");
  HeaderReader reader;
  Json::sax_parse(json, &reader);
  SafetensorsHeader header{{}, std::move(reader.metadata)};
  for (const auto& [name, told] : reader.tensors) header.entries.push_back(checked_entry(name, told, data_bytes));
  std::sort(header.entries.begin(), header.entries.end(), [](const auto& a, const auto& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  check_gapless(header.entries, data_bytes);
  return header;
}

// Writes the text by hand: the JSON library's objects search all members for each new one.
std::string safetensors_header_text(const SafetensorsHeader& header) {
  check_names(header.entries);
  for (const auto& [key, text] : header.metadata) {
    check_utf8("the metadata", key);
    check_utf8("the text of the metadata " + in_quotes(key) + ",", text);
  }
  std::string members;
  if (!header.metadata.empty()) members = member(kMetadataKey, header.metadata);
  for (const SafetensorsEntry& each : header.entries) members += (members.empty() ? "" : ",") + member(each);
  return "{" + members + "}";
}

}  // namespace distrun::tensor
