// Files of tensors: written files follow the format, read tensors equal the written ones, and invalid files are refused
// with a message.
#include <catch2/catch.hpp>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>

#include <distrun/runtime/tensor/io/safetensors.hpp>
#include <distrun/runtime/tensor/ops.hpp>

#include "support/error_of.hpp"
#include "support/gpus.hpp"
#include "support/process.hpp"
#include "support/scratch.hpp"
#include "support/skip.hpp"

namespace distrun::tensor {
namespace {

using testing::error_of;
using testing::Scratch;

// Returns a file's bytes: the length, the header, and the data.
std::string file_of(const std::string& header, const std::string& data = "") {
  const std::uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + header + data;
}

Safetensors decode(const std::string& bytes) { return decode_safetensors(std::as_bytes(std::span(bytes))); }

std::string encode(const NamedTensors& tensors, const Metadata& metadata = {}) {
  const std::vector<std::byte> bytes = encode_safetensors(tensors, metadata);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Returns the error for a header followed by `data_bytes` bytes.
std::string refusal(const std::string& header, std::size_t data_bytes = 0) {
  const Error error = error_of([&] { decode(file_of(header, std::string(data_bytes, '\0'))); });
  CHECK(error.kind() == ErrorKind::InvalidArgument);
  return error.what();
}

// Returns the error for one tensor "w" of eight bytes.
std::string refusal_of_w(const std::string& description) { return refusal("{\"w\":" + description + "}", 8); }

NamedTensors of_every_dtype() {
  NamedTensors all;
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    all.emplace_back(std::string(name_of(dtype)), to(from_values<std::int64_t>({0, 1, 0, 1, 1, 0}, {2, 3}), dtype));
  }
  all.emplace_back("one number", scalar_tensor(-0.5, {DType::F64}));
  all.emplace_back("none", zeros({0, 3}));
  return all;
}

void check_same(const NamedTensors& actual, const NamedTensors& expected) {
  REQUIRE(actual.size() == expected.size());
  for (const auto& [name, tensor] : expected) {
    INFO(name);
    const Tensor* const found = find_named(actual, name);
    REQUIRE(found != nullptr);
    CHECK(found->dtype() == tensor.dtype());
    CHECK(found->sizes() == tensor.sizes());
    CHECK(found->device().is_cpu());
    CHECK(found->is_contiguous());
    CHECK(equal(*found, to(tensor, device::kCpu)));
  }
}

}  // namespace

TEST_CASE("a file of tensors is the length of a header, the header and the elements") {
  const NamedTensors tensors{{"bias", from_values<std::uint8_t>({7, 8})},
                             {"weight", from_values<float>({1, 2}, {2, 1})}};
  const std::string header =
      R"({"__metadata__":{"by":"a test"},"weight":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},)"
      R"("bias":{"dtype":"U8","shape":[2],"data_offsets":[8,10]}})";
  const std::string bytes = encode(tensors, {{"by", "a test"}});
  std::string expected = header;
  expected.resize((header.size() + 7) / 8 * 8, ' ');
  CHECK(bytes == file_of(expected, std::string("\0\0\x80\x3f\0\0\0\x40\7\x8", 10)));
}

TEST_CASE("tensors of every dtype are read back unchanged, with their metadata") {
  const Metadata metadata{{"format", "pt"}, {"größe \"x\"\n", std::string("a\0b", 3)}};
  const Safetensors file = decode(encode(of_every_dtype(), metadata));
  check_same(file.tensors, of_every_dtype());
  CHECK(file.metadata == metadata);
  CHECK(decode(encode({})).tensors.empty());
}

TEST_CASE("NaN and the last bits of all numbers are read back, too") {
  const Tensor tensor = from_values<std::int64_t>({-1, 0x7ff8000000000123, std::int64_t{1} << 63, 1}, {4});
  const std::string bytes = encode({{"x", tensor}});
  const std::string as_doubles = bytes.substr(8, bytes.size() - 8 - 32);
  std::string header = as_doubles;
  header.replace(header.find("I64"), 3, "F64");
  const Safetensors file = decode(file_of(header, bytes.substr(bytes.size() - 32)));
  CHECK(encode(file.tensors) == file_of(header, bytes.substr(bytes.size() - 32)));
}

TEST_CASE("names are sorted by their bytes, and each tensor is aligned to its element") {
  const NamedTensors tensors{{"a", zeros({3}, {DType::Bool})},
                             {"b", zeros({1}, {DType::F32})},
                             {"c", zeros({1}, {DType::I16})},
                             {"d", zeros({}, {DType::F64})},
                             {"e", zeros({2}, {DType::F32})}};
  std::string names;
  for (const auto& [name, tensor] : decode(encode(tensors)).tensors) names += name;
  CHECK(names == "dbeca");
  CHECK((encode(tensors).size() - (8 + 4 + 8 + 2 + 3)) % 8 == 0);
}

TEST_CASE("tensors of a GPU and those that are not contiguous are saved with their elements") {
  testing::use_gpus();
  const Tensor rows = view(arange(12), {3, 4});
  const Tensor there = to(rows, device::cuda(0));
  const NamedTensors tensors{{"turned", transpose(rows, 0, 1)},
                             {"stretched", expand(arange(3), {2, 3})},
                             {"there", there},
                             {"column there", select(there, 1, 2)}};
  check_same(decode(encode(tensors)).tensors, tensors);
}

TEST_CASE("tensors that the format cannot represent are refused before a file exists") {
  const Scratch scratch;
  const std::string path = scratch.path() + "/model.safetensors";
  const auto why = [&](const NamedTensors& tensors, const Metadata& metadata = {}) {
    const Error error = error_of([&] { save_safetensors(path, tensors, metadata); });
    CHECK(error.kind() == ErrorKind::InvalidArgument);
    CHECK(testing::names_in(scratch.path()).empty());
    const std::string text = error.what(), prefix = "save " + path + ": ";
    REQUIRE(text.substr(0, prefix.size()) == prefix);
    return text.substr(prefix.size());
  };
  CHECK(why({{"w", {}}}) == "tensor \"w\": it is undefined");
  CHECK(
      why({{"w", empty_sparse({2, 2}, {}, 2)}}) ==
      "tensor \"w\": it is sparse, which the format does not support; save its to_dense(), or its indices and values");
  CHECK(why({{"w", ones({1})}, {"v", ones({1})}, {"w", ones({2})}}) == "two tensors are called \"w\"");
  CHECK(why({{"__metadata__", ones({1})}}) == "no tensor can be called __metadata__");
  CHECK(why({{"a\xff", ones({1})}}) == "the name \"a\xEF\xBF\xBD\" is not UTF-8");
  CHECK(why({}, {{"k", "\xc3"}}) == "the text of the metadata \"k\", \"\xEF\xBF\xBD\" is not UTF-8");
  for (const char* const odd : {"\xed\xa0\x80", "\xc0\x80", "\xf4\x90\x80\x80", "\x80"}) {
    CHECK_THAT(why({}, {{odd, "v"}}), Catch::EndsWith("is not UTF-8"));
  }
}

TEST_CASE("a file of tensors is saved and loaded, over an old one with its mode") {
  const Scratch scratch;
  const std::string path = scratch.path() + "/model.safetensors", link = scratch.path() + "/link";
  save_safetensors(path, {{"old", ones({100})}});
  REQUIRE(::chmod(path.c_str(), 0640) == 0);
  std::filesystem::create_symlink("model.safetensors", link);
  save_safetensors(link, of_every_dtype(), {{"k", "v"}});
  CHECK(testing::names_in(scratch.path()) == std::vector<std::string>{"link", "model.safetensors"});
  CHECK(std::filesystem::is_symlink(link));
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 07777U) == 0640U);
  const Safetensors file = load_safetensors(path);
  check_same(file.tensors, of_every_dtype());
  CHECK(file.metadata == Metadata{{"k", "v"}});
  CHECK(testing::read_file(path) == encode(of_every_dtype(), {{"k", "v"}}));
}

TEST_CASE("a file that cannot be written leaves the old one unchanged, and no temporary file") {
  const Scratch scratch;
  const std::string path = scratch.path() + "/model.safetensors";
  save_safetensors(path, {{"old", ones({2})}});
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{4096, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  const Error error = error_of([&] { save_safetensors(path, {{"new", ones({10'000})}}); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  CHECK(error.kind() == ErrorKind::Failed);
  CHECK_THAT(error.what(), Catch::StartsWith("cannot write ") && Catch::Contains(path + ": File too large"));
  CHECK(testing::names_in(scratch.path()) == std::vector<std::string>{"model.safetensors"});
  CHECK(load_safetensors(path).tensors.front().first == "old");
}

TEST_CASE("invalid paths for a file of tensors are named with the reason") {
  const Scratch scratch;
  const NamedTensors tensors{{"w", ones({1})}};
  const auto text = [](auto call) { return std::string(error_of(call).what()); };
  CHECK_THAT(text([&] { save_safetensors("/nowhere/x", tensors); }),
             Catch::StartsWith("cannot write /nowhere/x: No such file or directory"));
  CHECK_THAT(text([&] { save_safetensors(scratch.path(), tensors); }), Catch::Contains("Is a directory"));
  CHECK(text([&] { save_safetensors("/dev/null", tensors); }) ==
        "cannot write /dev/null: it exists and is not a regular file");
  CHECK_THAT(text([] { load_safetensors("/nowhere/x"); }),
             Catch::StartsWith("cannot read /nowhere/x: No such file or directory"));
  CHECK_THAT(text([&] { load_safetensors(scratch.path()); }), Catch::Contains("Is a directory"));
  CHECK(text([] { load_safetensors("/dev/zero"); }) == "cannot read /dev/zero: it is not a regular file");
  REQUIRE(::mkfifo((scratch.path() + "/fifo").c_str(), 0600) == 0);
  CHECK_THAT(text([&] { load_safetensors(scratch.path() + "/fifo"); }), Catch::EndsWith("it is not a regular file"));
}

TEST_CASE("a file that is truncated or of another format is refused by its first bytes") {
  const auto why = [](const std::string& bytes) { return std::string(error_of([&] { decode(bytes); }).what()); };
  CHECK(why("") == "it has 0 bytes, but a safetensors file begins with 8 bytes for its header's length");
  CHECK(why("1234567") == "it has 7 bytes, but a safetensors file begins with 8 bytes for its header's length");
  CHECK(why(std::string(8, '\xff') + "{}") ==
        "its header should have 18446744073709551615 bytes, and 2 follow; it is cut off or not a safetensors file");
  const std::string whole = encode({{"w", ones({2})}});
  for (std::size_t size = 0; size < whole.size(); ++size) CHECK_THROWS_AS(decode(whole.substr(0, size)), Error);
  CHECK(refusal("") == "the header does not begin with {, so this is not a safetensors file");
  CHECK(refusal(" {}") == "the header does not begin with {, so this is not a safetensors file");
  CHECK(why(file_of("{}", "12")) == "bytes 0 to 2 of the data belong to no tensor");
  CHECK(decode(file_of("{}   ")).tensors.empty());
  const Scratch scratch;
  const std::string path = scratch.path() + "/cut";
  testing::write_file(path, "123");
  CHECK_THAT(error_of([&] { load_safetensors(path); }).what(), Catch::StartsWith("load " + path + ": it has 3 bytes"));
}

TEST_CASE("a header beyond the limit is refused before it is read") {
  const Scratch scratch;
  const std::string path = scratch.path() + "/large";
  testing::write_file(path, file_of(""));
  const std::uint64_t length = kSafetensorsHeaderMost + 8;
  std::string head(reinterpret_cast<const char*>(&length), sizeof length);
  testing::write_file(path, head + "{");
  std::filesystem::resize_file(path, length + 8);  // a hole, which takes no disk space
  CHECK_THAT(error_of([&] { load_safetensors(path); }).what(),
             Catch::EndsWith("its header has 100000008 bytes, at most 100000000 are read"));
}

TEST_CASE("a header that is not JSON, or other JSON, is refused with the position") {
  CHECK_THAT(refusal("{\"w\""), Catch::StartsWith("the header is not valid JSON: "));
  CHECK_THAT(refusal("{} {}"), Catch::StartsWith("the header is not valid JSON: "));
  CHECK_THAT(refusal("{\"a\xff\":1}"), Catch::StartsWith("the header is not valid JSON: ") && Catch::Contains("UTF-8"));
  CHECK(refusal("{\"w\":[]}") == "what describes \"w\" must be an object, but is a list");
  CHECK(refusal("{\"w\":null}") == "what describes \"w\" must be an object, but is null");
  CHECK(refusal("{\"__metadata__\":{\"k\":1}}") == "the metadata \"k\" must be a string, but is 1");
  CHECK(refusal("{\"__metadata__\":{\"k\":{}}}") == "the metadata \"k\" must be a string, but is an object");
  CHECK(refusal("{\"__metadata__\":{\"k\":\"\",\"k\":\"\"}}") == "the metadata \"k\" is given twice");
  CHECK(refusal("{\"__metadata__\":{},\"__metadata__\":{}}") == "the name \"__metadata__\" is given twice");
  const std::string empty = R"({"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  CHECK(refusal("{\"w\":" + empty + ",\"w\":" + empty + "}") == "the name \"w\" is given twice");
  CHECK_THAT(refusal("{\"a\\u001b[31m\":1}"),
             Catch::Contains("\"a\\x1b[31m\""));  // escaped for terminals
  // Nested more deeply than any stack allows.
  const std::string deep = "{\"w\":{\"shape\":" + std::string(1'000'000, '[') + std::string(1'000'000, ']') + "}}";
  CHECK(refusal(deep) == "tensor \"w\": shape must have non-negative integers, but has a list");
}

TEST_CASE("an invalid entry of a header is refused with the tensor, the value and the limit") {
  CHECK(refusal_of_w(R"({"dtype":"BF16","shape":[4],"data_offsets":[0,8]})") ==
        "tensor \"w\": dtype \"BF16\" is not supported; expected BOOL, U8, I8, I16, I32, I64, F32, F64; convert it "
        "before it is written");
  CHECK(refusal_of_w(R"({"shape":[2],"data_offsets":[0,8]})") == "tensor \"w\": it has no dtype");
  CHECK(refusal_of_w(R"({"dtype":"F32","data_offsets":[0,8]})") == "tensor \"w\": it has no shape");
  CHECK(refusal_of_w(R"({"dtype":"F32","shape":[2]})") == "tensor \"w\": it has no data_offsets");
  CHECK(refusal_of_w(R"({"dtype":"F32","dtype":"F32"})") == "tensor \"w\": dtype is given twice");
  CHECK(refusal_of_w(R"({"shape":[2],"shape":[2]})") == "tensor \"w\": shape is given twice");
  CHECK(refusal_of_w(R"({"strides":[1]})") == "tensor \"w\": \"strides\" is not dtype, shape or data_offsets");
  CHECK(refusal_of_w(R"({"dtype":4})") == "tensor \"w\": dtype must be a string, but is 4");
  CHECK(refusal_of_w(R"({"dtype":["F32"]})") == "tensor \"w\": dtype must be a string, but is a list");
  CHECK(refusal_of_w(R"({"shape":"2"})") == "tensor \"w\": shape must be a list, but is \"2\"");
  for (const char* const odd : {"-1", "1.5", "1e3", "true", "null", "\"1\"", "{}", "[1]", "18446744073709551616"}) {
    CHECK_THAT(refusal_of_w("{\"shape\":[" + std::string(odd) + "]}"),
               Catch::StartsWith("tensor \"w\": shape must have non-negative integers, but has "));
  }
  CHECK(refusal_of_w(R"({"dtype":"F32","shape":[2],"data_offsets":[0,8,8]})") ==
        "tensor \"w\": data_offsets [0, 8, 8] must be two numbers, begin and end");
  CHECK(refusal_of_w(R"({"dtype":"F32","shape":[2],"data_offsets":[8,0]})") ==
        "tensor \"w\": data_offsets [8, 0] end before they begin");
  CHECK(refusal_of_w(R"({"dtype":"F32","shape":[3],"data_offsets":[0,12]})") ==
        "tensor \"w\": data_offsets [0, 12] end beyond the data, which has 8 bytes");
  CHECK(refusal_of_w(R"({"dtype":"F32","shape":[3],"data_offsets":[0,8]})") ==
        "tensor \"w\": shape [3] of F32 needs 12 bytes, and data_offsets [0, 8] are 8");
  CHECK(
      refusal_of_w(R"({"dtype":"U8","shape":[8],"data_offsets":[18446744073709551608,18446744073709551615]})") ==
      "tensor \"w\": data_offsets [18446744073709551608, 18446744073709551615] end beyond the data, which has 8 bytes");
  std::string ones = "1";
  for (int i = 0; i < 64; ++i) ones += ",1";
  CHECK(refusal_of_w("{\"shape\":[" + ones + "]}") == "tensor \"w\": shape has more than 64 numbers");
}

TEST_CASE("sizes with an overflowing product are refused, also beside a zero") {
  for (const char* const shape : {"18446744073709551615", "4294967296, 4294967296", "9223372036854775807, 2",
                                  "0, 4294967296, 4294967296", "9223372036854775808", "2, 4611686018427387904"}) {
    CHECK(refusal_of_w(std::string(R"({"dtype":"I16","shape":[)") + shape + R"(],"data_offsets":[0,0]})") ==
          "tensor \"w\": no tensor can have shape [" + std::string(shape) + "]");
  }
  const Safetensors file = decode(file_of(R"({"w":{"dtype":"I16","shape":[4294967296,0],"data_offsets":[0,0]}})"));
  CHECK(file.tensors[0].second.sizes() == Dims{4294967296, 0});
}

TEST_CASE("tensors share no bytes, and no bytes are unused") {
  const auto two = [](const char* first, const char* second) {
    return refusal(std::string(R"({"b":{"dtype":"U8","shape":[4],"data_offsets":)") + second +
                       R"(},"a":{"dtype":"U8","shape":[4],"data_offsets":)" + first + "}}",
                   10);
  };
  CHECK(two("[0,4]", "[3,7]") == "tensor \"b\": it begins at byte 3 of the data, but the tensor before it ends at 4");
  CHECK(two("[0,4]", "[0,4]") == "tensor \"b\": it begins at byte 0 of the data, but the tensor before it ends at 4");
  CHECK(two("[0,4]", "[6,10]") == "bytes 4 to 6 of the data belong to no tensor");
  CHECK(two("[1,5]", "[5,9]") == "bytes 0 to 1 of the data belong to no tensor");
  CHECK(two("[4,8]", "[0,4]") == "bytes 8 to 10 of the data belong to no tensor");
}

TEST_CASE("a bool is 0 or 1, and other bytes in a file are refused") {
  const std::string header = R"({"w":{"dtype":"BOOL","shape":[3],"data_offsets":[0,3]}})";
  CHECK(to_vector<bool>(decode(file_of(header, std::string("\1\0\1", 3))).tensors[0].second) ==
        std::vector<bool>{true, false, true});
  const Error error = error_of([&] { decode(file_of(header, std::string("\1\0\2", 3))); });
  CHECK(std::string(error.what()) == "tensor \"w\": a BOOL is 2, but must be 0 or 1");
}

TEST_CASE("Python's standard library reads the same tensors, and writes files that are read here") {
  const Scratch scratch;
  const std::string ours = scratch.path() + "/ours", theirs = scratch.path() + "/theirs";
  save_safetensors(ours, of_every_dtype(), {{"k", "v"}});
  const std::string script = scratch.path() + "/copy.py";
  // Extracts every tensor by its offsets and writes them to another file, in another order.
  testing::write_file(script, R"(import json, struct, sys
data = open(sys.argv[1], "rb").read()
(length,) = struct.unpack("<Q", data[:8])
header = json.loads(data[8:8 + length])
metadata = header.pop("__metadata__")
assert (8 + length) % 8 == 0 and max(t["data_offsets"][1] for t in header.values()) == len(data) - 8 - length
out, told = b"", {"__metadata__": metadata}
for name, t in sorted(header.items(), reverse=True):
    begin, end = (8 + length + offset for offset in t["data_offsets"])
    told[name] = dict(t, data_offsets=[len(out), len(out) + end - begin])
    out += data[begin:end]
text = json.dumps(told).encode()
open(sys.argv[2], "wb").write(struct.pack("<Q", len(text)) + text + out)
)");
  testing::Running python({.program = "/usr/bin/env",
                           .arguments = {"python3", script, ours, theirs},
                           .environment = {"PATH=/usr/local/bin:/usr/bin:/bin"},
                           .capture = scratch.path() + "/python"});
  const testing::Ended ended = python.wait(testing::milliseconds(30'000));
  testing::skip_case_if(ended.exit_code == 127, "there is no python3");
  INFO(ended.err);
  REQUIRE(ended.exit_code == 0);
  const Safetensors file = load_safetensors(theirs);
  check_same(file.tensors, of_every_dtype());
  CHECK(file.metadata == Metadata{{"k", "v"}});
}

}  // namespace distrun::tensor
