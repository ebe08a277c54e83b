#include <distrun/runtime/store/log_format.hpp>

#include <array>
#include <cstring>

namespace distrun::stores {
namespace {

constexpr std::size_t kMarkFields = 3 * sizeof(std::uint64_t);

template <class Number>
Number number_at(std::string_view bytes, std::size_t at) {
  Number number = 0;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

// [0] has the remainder of each byte, [n] that of the byte followed by n zero bytes.
using CrcTables = std::array<std::array<std::uint32_t, 256>, 8>;

CrcTables make_crc_tables() {
  CrcTables tables{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value & 1) != 0 ? 0xEDB88320U ^ (value >> 1) : value >> 1;
    tables[0][i] = value;
  }
  for (std::size_t n = 1; n < tables.size(); ++n) {
    for (std::size_t i = 0; i < 256; ++i) {
      tables[n][i] = tables[0][tables[n - 1][i] & 0xFF] ^ (tables[n - 1][i] >> 8);
    }
  }
  return tables;
}

// CRC-32 as in zlib, eight bytes at a time: the checksum is most of the cost of large values.
std::uint32_t crc_of(std::string_view bytes) {
  static const CrcTables tables = make_crc_tables();
  std::uint32_t crc = 0xFFFFFFFFU;
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    const std::uint64_t part = number_at<std::uint64_t>(bytes, 0) ^ crc;  // assumes a little-endian machine
    crc = 0;
    for (std::size_t i = 0; i < 8; ++i) crc ^= tables[7 - i][(part >> (8 * i)) & 0xFF];
  }
  for (const char byte : bytes) crc = tables[0][(crc ^ static_cast<unsigned char>(byte)) & 0xFF] ^ (crc >> 8);
  return ~crc;
}

template <class Number>
void append(std::string& bytes, Number number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

std::optional<LogMark> decode_mark(std::string_view bytes) {
  if (crc_of(bytes.substr(0, kMarkFields)) != number_at<std::uint32_t>(bytes, kMarkFields)) return std::nullopt;
  const LogMark mark{number_at<std::uint64_t>(bytes, 0), number_at<std::uint64_t>(bytes, 8),
                     number_at<std::uint64_t>(bytes, 16)};
  if (mark.begin < kLogHeaderSize || mark.base < mark.begin || mark.base > std::uint64_t{1} << 62) return std::nullopt;
  return mark;
}

}  // namespace

std::size_t place_of(const LogMark& mark) noexcept {
  return kLogMagic.size() + (mark.generation % 2 == 0 ? kMarkSize : 0);
}

std::string encode(const LogMark& mark) {
  std::string bytes;
  for (const std::uint64_t number : {mark.generation, mark.begin, mark.base}) append(bytes, number);
  append(bytes, crc_of(bytes));
  bytes.resize(kMarkSize, '\0');
  return bytes;
}

std::string encode_header(const LogMark& mark) {
  std::string bytes(kLogMagic);
  bytes.resize(kLogHeaderSize, '\0');
  return bytes.replace(place_of(mark), kMarkSize, encode(mark));
}

std::optional<LogMark> mark_in(std::string_view header) {
  const auto one = decode_mark(header.substr(kLogMagic.size(), kMarkSize));
  const auto other = decode_mark(header.substr(kLogMagic.size() + kMarkSize, kMarkSize));
  if (!one || !other) return one ? one : other;
  return one->generation > other->generation ? one : other;
}

std::string encode_record(const Request& request) {
  const wire::Bytes body = wire::encode(request);
  const std::string_view text(reinterpret_cast<const char*>(body.data()), body.size());
  std::string bytes;
  bytes.reserve(kRecordHeadSize + text.size());
  append(bytes, static_cast<std::uint32_t>(text.size()));
  append(bytes, crc_of(text));
  return bytes.append(text);
}

std::string encode_snapshot_head() {
  std::string bytes;
  append(bytes, kSnapshotBegins);
  append(bytes, std::uint32_t{0});
  return bytes;
}

// Released space reads as zeros, which is not a record: no record is empty.
RecordAt record_at(std::string_view bytes) noexcept {
  if (bytes.size() < kRecordHeadSize) return {};
  const auto size = number_at<std::uint32_t>(bytes, 0);
  if (size == kSnapshotBegins) return {RecordAt::Kind::Snapshot};
  if (size == 0 || size > kRecordSize) return {RecordAt::Kind::Damaged};
  const std::size_t whole = kRecordHeadSize + size;
  if (bytes.size() < whole) return {RecordAt::Kind::Part, whole};
  const std::string_view body = bytes.substr(kRecordHeadSize, size);
  if (crc_of(body) != number_at<std::uint32_t>(bytes, sizeof size)) return {RecordAt::Kind::Damaged};
  return {RecordAt::Kind::Record, whole, body};
}

}  // namespace distrun::stores
