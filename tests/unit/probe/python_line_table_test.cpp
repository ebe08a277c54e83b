#include <catch2/catch.hpp>

#include <distrun/common/base/rng.hpp>

#include "python/line_table.hpp"

using namespace distrun;
using namespace distrun::probe::python;

// The tables are of this function, compiled by 3.8, 3.10 and 3.13; the lines are those that these say (dis, co_lines):
//
//   5  def f(a,
//   6        b):
//   7      for x in a:
//   8          if (x and
//   9              b(x,
//  10                1)):
//  11              y = [i
//  12                   for i in x]
//  13          else:
//  14              y = 2
//  15      return (a +
//  16              b(
//  17                  y))
namespace {

constexpr std::uint32_t kNone = 0;

struct Range {
  std::int64_t begin;
  std::int64_t end;
  std::uint32_t line;
};

void check_lines(LineFormat format, std::string_view table, const std::vector<Range>& ranges) {
  for (const Range& range : ranges) {
    for (std::int64_t offset = range.begin; offset < range.end; offset += 2) {
      INFO("offset " << offset);
      CHECK(line_at(format, table, 5, offset).value_or(kNone) == range.line);
    }
  }
}

constexpr char kIncrements[] =
    "\x00\x02\x08\x01\x04\x01\x04\x01\x02\xff\x02\xff\x02\x03\x06\x01\x02\xff\x08\x03\x06\x01\x02\x01\x02\x01\x02\xff"
    "\x02\xff";
constexpr char kRanges[] =
    "\x08\x02\x04\x01\x04\x01\x02\x01\x02\xff\x02\xff\x06\x03\x02\x01\x08\xff\x06\x03\x02\x01\x02\x01\x02\x01\x02\xff"
    "\x04\xff";
constexpr char kLocations[] =
    "\x80\x00\xe3\x0d\x0e\x88\x01\xde\x0c\x0d\xd9\x0c\x0d\x88\x61\xd8\x0e\x0f\xf7\x03\x01\x0d\x11\xf1\x00\x01\x0d\x11"
    "\xf1\x06\x00\x1b\x1c\xf3\x03\x01\x11\x1d\xd9\x1a\x1b\x90\x51\xf3\x03\x00\x12\x13\xd9\x1a\x1b\xf0\x03\x00\x0d\x0e"
    "\xf0\x00\x01\x11\x1d\x89\x41\xf0\x06\x00\x11\x12\x8a\x41\xf1\x0f\x00\x0e\x0f\xf0\x10\x00\x0d\x0e\xd9\x0c\x0d\xd8"
    "\x10\x11\xf3\x03\x01\x0d\x13\xf1\x03\x02\x0d\x13\xf0\x00\x02\x05\x14\xf9\xf2\x09\x01\x11\x1d";

// Returns the lines in the tables of 3.8 and 3.10.
const std::vector<Range>& lines_up_to_310() {
  static const std::vector<Range> lines{{0, 8, 7},    {8, 12, 8},   {12, 16, 9},  {16, 18, 10}, {18, 20, 9},
                                        {20, 22, 8},  {22, 28, 11}, {28, 30, 12}, {30, 38, 11}, {38, 44, 14},
                                        {44, 46, 15}, {46, 48, 16}, {48, 50, 17}, {50, 52, 16}, {52, 56, 15}};
  return lines;
}

template <std::size_t Size>
std::string_view bytes_of(const char (&text)[Size]) {
  return {text, Size - 1};
}

}  // namespace

TEST_CASE("tables of 3.8 and 3.9 have steps of lines, forward and back") {
  check_lines(LineFormat::Increments, bytes_of(kIncrements), lines_up_to_310());
}

TEST_CASE("tables of 3.10 have ranges of instructions") {
  check_lines(LineFormat::Ranges, bytes_of(kRanges), lines_up_to_310());
}

TEST_CASE("tables from 3.11 on have entries of several kinds, and instructions without a line") {
  check_lines(LineFormat::Locations, bytes_of(kLocations),
              {{0, 2, 5},      {2, 12, 7},        {12, 26, 8},    {26, 32, 9},    {32, 34, 10},   {34, 54, 9},
               {54, 58, 12},   {58, 66, 11},      {66, 72, 12},   {72, 80, 11},   {80, 84, 12},   {84, 92, 11},
               {92, 100, 14},  {100, 104, 7},     {104, 106, 15}, {106, 110, 16}, {110, 112, 17}, {112, 120, 16},
               {120, 126, 15}, {126, 130, kNone}, {130, 136, 11}});
}

TEST_CASE("a range of 3.10 without a line keeps the lines of the others") {
  const std::string_view table = bytes_of("\x02\x01\x02\x80\x02\x01");
  check_lines(LineFormat::Ranges, table, {{0, 2, 6}, {2, 4, kNone}, {4, 6, 7}});
}

TEST_CASE("a function that is about to begin is on its first line") {
  CHECK(line_at(GENERATE(LineFormat::Increments, LineFormat::Ranges, LineFormat::Locations), "", 5, -2) == 5);
}

TEST_CASE("an instruction behind the table has no line, but in the oldest format, in which the last step has no end") {
  CHECK(line_at(LineFormat::Increments, bytes_of(kIncrements), 5, 1'000) == 15);
  CHECK_FALSE(line_at(LineFormat::Ranges, bytes_of(kRanges), 5, 1'000));
  CHECK_FALSE(line_at(LineFormat::Locations, bytes_of(kLocations), 5, 1'000));
}

TEST_CASE("a table of any bytes gives a line or none") {
  base::Rng rng(3);
  for (int round = 0; round < 2'000; ++round) {
    std::string table(rng.below(80), '\0');
    for (char& byte : table) byte = static_cast<char>(rng.below(256));
    for (const LineFormat format : {LineFormat::Increments, LineFormat::Ranges, LineFormat::Locations}) {
      const auto first = static_cast<std::int32_t>(rng.below(UINT32_MAX));
      const auto line = line_at(format, table, first, static_cast<std::int64_t>(rng.below(300)));
      CHECK(line.value_or(0) <= static_cast<std::uint32_t>(INT32_MAX));
    }
  }
}
