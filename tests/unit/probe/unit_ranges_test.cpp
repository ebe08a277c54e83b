#include "unit_ranges.hpp"

#include <catch2/catch.hpp>

#include <cstring>
#include <random>
#include <string>

using namespace distrun::probe;

namespace {

struct Entry {
  std::uint64_t address;
  std::uint64_t size;
};

template <class Number>
void put(std::string& text, Number number) {
  char bytes[sizeof number];
  std::memcpy(bytes, &number, sizeof number);
  text.append(bytes, sizeof number);
}

// The entries of one unit, as a compiler writes them. `wide`: in the 64-bit format.
std::string set_of(std::uint64_t unit, const std::vector<Entry>& entries, bool wide = false) {
  std::string body;
  put<std::uint16_t>(body, 2);
  wide ? put<std::uint64_t>(body, unit) : put<std::uint32_t>(body, static_cast<std::uint32_t>(unit));
  put<std::uint8_t>(body, 8);
  put<std::uint8_t>(body, 0);
  const std::size_t length_bytes = wide ? 12 : 4;
  while ((length_bytes + body.size()) % 16 != 0) body.push_back('\0');
  for (const Entry& entry : entries) put(body, entry.address), put(body, entry.size);
  put<std::uint64_t>(body, 0), put<std::uint64_t>(body, 0);
  std::string set;
  if (wide) put<std::uint32_t>(set, 0xffffffff);
  wide ? put<std::uint64_t>(set, body.size()) : put<std::uint32_t>(set, static_cast<std::uint32_t>(body.size()));
  return set + body;
}

std::optional<UnitRanges> parse(const std::string& section) {
  return UnitRanges::parse(std::as_bytes(std::span(section.data(), section.size())));
}

const std::string kTwoUnits =
    set_of(0x40, {{0x2000, 0x10}, {0x1000, 0x100}}) + set_of(0x9000, {{0x1100, 0x80}, {0x5000, 1}}, true);

}  // namespace

TEST_CASE("an address belongs to the unit that has a range around it") {
  const auto ranges = parse(kTwoUnits);
  REQUIRE(ranges);
  CHECK(ranges->find(0x1000) == 0x40);
  CHECK(ranges->find(0x10ff) == 0x40);
  CHECK(ranges->find(0x1100) == 0x9000);
  CHECK(ranges->find(0x200f) == 0x40);
  CHECK(ranges->find(0x5000) == 0x9000);
  for (const std::uint64_t address : {0x0, 0xfff, 0x1180, 0x2010, 0x5001}) CHECK_FALSE(ranges->find(address));
  CHECK((ranges->has(0x40) && ranges->has(0x9000) && !ranges->has(0)));
}

TEST_CASE("a unit without addresses is not in the table") {
  const auto ranges = parse(set_of(0x40, {}) + set_of(0x80, {{0x1000, 0}}));
  REQUIRE(ranges);
  CHECK_FALSE((ranges->has(0x40) || ranges->has(0x80)));
  CHECK_FALSE(parse("")->find(0));
}

TEST_CASE("a table that ends early, or with other addresses than 64-bit ones, is refused") {
  for (std::size_t size = 1; size < kTwoUnits.size(); ++size) {
    const bool is_first_set = size == set_of(0x40, {{0x2000, 0x10}, {0x1000, 0x100}}).size();
    INFO(size);
    CHECK(parse(kTwoUnits.substr(0, size)).has_value() == is_first_set);
  }
  std::string narrow = kTwoUnits;
  narrow[10] = 4;  // bytes of an address
  CHECK_FALSE(parse(narrow));
  std::string segments = kTwoUnits;
  segments[11] = 2;
  CHECK_FALSE(parse(segments));
}

TEST_CASE("a table of any bytes is read or refused") {
  std::mt19937 random(7);
  int read = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string section = kTwoUnits;
    for (int k = 0; k < 3; ++k) section[random() % section.size()] = static_cast<char>(random());
    section.resize(random() % (section.size() + 1));
    const auto ranges = parse(section);
    if (!ranges) continue;
    ++read;
    (void)ranges->find(random());
  }
  CHECK(read > 0);
}
