// Source lines of addresses: tables made by hand, whole and broken ones.
#include <catch2/catch.hpp>

#include <cstring>

#include <distrun/common/symbols/line_table.hpp>

namespace distrun::symbols {
namespace {

template <class T>
std::string bytes_of(T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}
std::string text(const char* of) { return std::string(of, std::strlen(of) + 1); }
std::string sized(const std::string& bytes) { return bytes_of(static_cast<std::uint32_t>(bytes.size())) + bytes; }

// Lines 10 and 11 of src/a.cpp, of 16 bytes each, from the address on.
std::string program(std::uint64_t address, char file) {
  std::string at = std::string("\x00\x09\x02", 3) + bytes_of(address);  // set_address
  at += std::string("\x04", 1) + file;                                  // set_file
  at += std::string("\x03\x09\x01", 3);                                 // advance_line 9, copy
  at += std::string("\x02\x10\x03\x01\x01", 5);                         // advance_pc 16, advance_line 1, copy
  return at + std::string("\x02\x10\x00\x01\x01", 5);                   // advance_pc 16, end_sequence
}
const std::string kOpcodes = std::string("\x01\xfb\x0e\x0d", 4) + std::string("\0\1\1\1\1\0\0\0\1\0\0\1", 12);

std::string table_of_4() {
  const std::string header = std::string("\1\1", 2) + kOpcodes + text("src") + std::string(1, '\0') + text("a.cpp") +
                             std::string("\1\0\0", 3) + std::string(1, '\0');
  return sized(bytes_of(std::uint16_t{4}) + sized(header) + program(0x1000, 1));
}

const std::string kLineStrings = text("/build") + text("/src") + text("b.cpp");
std::string table_of_5() {
  std::string header = std::string("\1\1", 2) + kOpcodes;
  header += std::string("\1\1\x1f", 3) + std::string(1, 2);  // directories: a path in the line strings, two of them
  header += bytes_of(std::uint32_t{0}) + bytes_of(std::uint32_t{7});
  header += std::string("\2\1\x1f\2\x0b", 5) + std::string(1, 1);  // files: so, too, and a directory
  header += bytes_of(std::uint32_t{12}) + std::string(1, 1);
  return sized(bytes_of(std::uint16_t{5}) + std::string("\x08\x00", 2) + sized(header) + program(0x2000, 0));
}

std::string at(const std::string& lines, std::uint64_t address) {
  const std::vector<SourceLine> found = find_lines({lines, kLineStrings, {}}, std::vector{address});
  return found.at(0).file + ":" + std::to_string(found.at(0).line);
}

TEST_CASE("addresses have the lines that tables of both forms tell") {
  const std::string lines = table_of_4() + table_of_5();
  CHECK(at(lines, 0x0fff) == ":0");
  CHECK(at(lines, 0x1000) == "src/a.cpp:10");
  CHECK(at(lines, 0x100f) == "src/a.cpp:10");
  CHECK(at(lines, 0x1010) == "src/a.cpp:11");
  CHECK(at(lines, 0x1020) == ":0");
  CHECK(at(lines, 0x2000) == "/src/b.cpp:10");
  CHECK(at(lines, 0x201f) == "/src/b.cpp:11");
}

TEST_CASE("a table that is broken anywhere tells nothing, or something, and the next one is read") {
  for (const std::string& whole : {table_of_4(), table_of_5()}) {
    for (std::size_t size = 0; size < whole.size(); ++size) CHECK_NOTHROW(at(whole.substr(0, size), 0x1000));
    for (std::size_t place = 4; place < whole.size(); ++place) {
      for (const char odd : {'\0', '\x7f', '\xff'}) {
        std::string broken = whole;
        broken[place] = odd;
        CHECK(at(broken + (whole == table_of_4() ? table_of_5() : table_of_4()),
                 whole == table_of_4() ? 0x2010 : 0x1010) != ":0");
      }
    }
  }
}

}  // namespace
}  // namespace distrun::symbols
