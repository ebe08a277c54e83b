#include <catch2/catch.hpp>

#include <limits>

#include <distrun/runner/report/json/json_writer.hpp>

using distrun::base::Nanoseconds;
using distrun::report::JsonWriter;
using Layout = JsonWriter::Layout;

namespace {

template <class T>
std::string written(const T& value) {
  JsonWriter out(Layout::Line);
  out.value(value);
  return out.text();
}

void write_nested(JsonWriter& out) {
  out.begin_object();
  out.field("a", 1);
  out.key("b");
  out.begin_array();
  out.value(true);
  out.begin_object();
  out.end_object();
  out.begin_array();
  out.end_array();
  out.null();
  out.end_array();
  out.field_if(false, "c", "x");
  out.end_object();
}

}  // namespace

TEST_CASE("JSON on one line has no white space", "[report]") {
  JsonWriter out(Layout::Line);
  write_nested(out);
  CHECK(out.text() == R"({"a":1,"b":[true,{},[],null],"c":null})");
}

TEST_CASE("pretty JSON has a line per field and leaves empty brackets alone", "[report]") {
  JsonWriter out(Layout::Pretty);
  write_nested(out);
  CHECK(out.text() == R"({
  "a": 1,
  "b": [
    true,
    {},
    [],
    null
  ],
  "c": null
})");
}

TEST_CASE("a writer that was cleared starts again", "[report]") {
  JsonWriter out(Layout::Line);
  out.begin_object();
  out.key("left open");
  out.clear();
  write_nested(out);
  CHECK(out.text() == R"({"a":1,"b":[true,{},[],null],"c":null})");
}

TEST_CASE("text of any bytes becomes a valid JSON string", "[report]") {
  CHECK(written("plain") == R"("plain")");
  CHECK(written("q\" b\\ n\n r\r t\t") == R"("q\" b\\ n\n r\r t\t")");
  CHECK(written(std::string("\0\x01\x1b\x7f", 4)) == R"("\u0000\u0001\u001b\u007f")");
  CHECK(written("\xc3\xa9 \xff \xe2\x82") == "\"\xc3\xa9 \xef\xbf\xbd \xef\xbf\xbd\xef\xbf\xbd\"");
}

TEST_CASE("numbers are written exactly", "[report]") {
  CHECK(written(std::numeric_limits<std::uint64_t>::max()) == "18446744073709551615");
  CHECK(written(std::numeric_limits<std::int64_t>::min()) == "-9223372036854775808");
  CHECK(written(0.1) == "0.1");
  CHECK(written(std::numeric_limits<double>::quiet_NaN()) == "null");
}

TEST_CASE("durations are milliseconds with no more decimals than they need", "[report]") {
  CHECK(written(Nanoseconds(0)) == "0");
  CHECK(written(Nanoseconds(12'345'678)) == "12.345");
  CHECK(written(Nanoseconds(12'300'000)) == "12.3");
  CHECK(written(Nanoseconds(7'000)) == "0.007");
  CHECK(written(Nanoseconds(5'000'000)) == "5");
  CHECK(written(Nanoseconds(-1'500'000)) == "-1.5");
}
