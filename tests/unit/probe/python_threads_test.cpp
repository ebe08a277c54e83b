#include <catch2/catch.hpp>

#include <distrun/common/base/rng.hpp>

#include "fake_interpreter.hpp"

using namespace distrun;
using namespace distrun::probe::python;
using namespace distrun::testing;

namespace {

// One instruction of 2 bytes on line 5, and the next on line 7; the function begins on line 5.
std::string table_of(LineFormat format) {
  switch (format) {
    case LineFormat::Increments: return std::string("\x00\x00\x02\x02", 4);
    case LineFormat::Ranges: return std::string("\x02\x00\x02\x02", 4);
    case LineFormat::Locations: return std::string("\xd0\x00\x00\xe0\x00\x00", 6);  // 0, then 2 lines further
  }
  return "";
}

struct Fixture {
  explicit Fixture(int minor) : fake(minor), codes(fake.layout(), fake.runtime().code_type) {}

  Address code(const char* name) {
    return fake.add_code(fake.add_ascii(name), fake.add_ascii("train.py"), table_of(fake.layout().line_format), 5);
  }
  PythonThreads read(const std::map<pid_t, pid_t>& ids, const std::set<pid_t>& wanted) {
    return read_threads(fake.memory, fake.runtime(), codes, ids, wanted);
  }

  FakeInterpreter fake;
  CodeObjects codes;
};

std::vector<std::string> lines_of(const PythonStack& stack) {
  std::vector<std::string> lines;
  for (const PythonFrame& frame : stack.inner) {
    lines.push_back(frame.code ? frame.code->function + " " + frame.code->file + ":" + std::to_string(frame.line)
                               : "?");
  }
  return lines;
}

}  // namespace

TEST_CASE("frames of every version have a function, a file and the line that runs") {
  const int minor = GENERATE(8, 9, 10, 11, 12, 13);
  Fixture it(minor);
  const bool has_shim = it.fake.layout().frame_kind == FrameKind::Shim;
  const Address shim = has_shim ? it.fake.add_frame(0, 0, 0, 3) : 0;
  const Address outer = it.fake.add_frame(it.code("main"), 0, shim, has_shim ? 0 : 1);
  const Address inner = it.fake.add_frame(it.code("step"), 2, outer, 0);
  it.fake.add_thread(11, inner);
  const PythonThreads threads = it.read({{11, 11}}, {11});
  REQUIRE(threads.list.size() == 1);
  const PythonStack& stack = threads.list.front().stack;
  CHECK(lines_of(stack) == std::vector<std::string>{"step train.py:7", "main train.py:5"});
  CHECK(stack.inner[0].is_entry == (minor <= 10));  // later versions call the loop for the outer one only
  CHECK(stack.inner[1].is_entry);
  CHECK_FALSE(stack.incomplete);
  CHECK(threads.is_sound);
}

TEST_CASE("only the threads that were asked for are read, by the ids that their process has for them") {
  Fixture it(11);
  it.fake.add_thread(2, it.fake.add_frame(it.code("first"), 0, 0));
  it.fake.add_thread(3, it.fake.add_frame(it.code("second"), 0, 0));
  const PythonThreads threads = it.read({{2, 4002}, {3, 4003}}, {4003});
  REQUIRE(threads.list.size() == 1);
  CHECK(threads.list.front().tid == 4003);
  CHECK(lines_of(threads.list.front().stack) == std::vector<std::string>{"second train.py:5"});
}

TEST_CASE("the thread that holds the GIL is known in every version") {
  Fixture it(GENERATE(8, 9, 10, 11, 12, 13));
  it.fake.add_thread(2, 0);
  const Address holder = it.fake.add_thread(3, 0);
  const bool is_held = GENERATE(true, false);
  const Address gil = it.fake.hold_gil(is_held ? holder : 0);
  const PythonThreads threads = it.read({{2, 2}, {3, 3}}, {});
  REQUIRE(threads.gils.size() == 1);
  CHECK(threads.gils.front().holder == (is_held ? 3 : 0));
  CHECK(threads.gils.front().begin > gil);
}

TEST_CASE("names and files may have any characters") {
  Fixture it(GENERATE(8, 12));
  const Address name = it.fake.add_wide(std::u16string(u"Tr\u00e4iner.\u8bad\u7ec3"));
  const Address file = it.fake.add_wide(std::u32string(U"\U0001f40d.py\xdc80"));
  it.fake.add_thread(2, it.fake.add_frame(it.fake.add_code(name, file, "", 3), 0, 0));
  const PythonThreads threads = it.read({{2, 2}}, {2});
  REQUIRE(threads.list.size() == 1);
  CHECK(lines_of(threads.list.front().stack) ==
        std::vector<std::string>{"Tr\xc3\xa4iner.\xe8\xae\xad\xe7\xbb\x83 \xf0\x9f\x90\x8d.py\xef\xbf\xbd:3"});
}

TEST_CASE("of a deep recursion the innermost and the outermost frames are kept") {
  Fixture it(11);
  const Address code = it.code("dive");
  Address frame = it.fake.add_frame(it.code("main"), 0, 0);
  for (int i = 0; i < 1000; ++i) frame = it.fake.add_frame(code, 2, frame, 0);
  it.fake.add_thread(2, frame);
  const PythonStack stack = it.read({{2, 2}}, {2}).list.at(0).stack;
  CHECK(stack.gap);
  CHECK(stack.inner.size() == wire::kInnerFrames);
  REQUIRE(stack.outer.size() == wire::kOuterFrames);
  CHECK(stack.outer.back().code->function == "main");
}

TEST_CASE("frames in a circle, and threads in one, come to an end") {
  Fixture it(GENERATE(8, 11, 13));
  const Address frame = it.fake.add_frame(it.code("loop"), 0, 0, 0);
  it.fake.memory.set(frame + static_cast<Address>(it.fake.layout().frame_previous), frame);
  const Address thread = it.fake.add_thread(2, frame);
  it.fake.memory.set(thread + 8, thread);
  const PythonThreads threads = it.read({{2, 2}}, {2});
  REQUIRE_FALSE(threads.list.empty());
  CHECK(threads.list.front().stack.incomplete);
  CHECK(threads.list.size() <= 1);
}

TEST_CASE("a code object in the memory of an earlier one is read again") {
  Fixture it(11);
  const Address code = it.code("before");
  it.fake.add_thread(2, it.fake.add_frame(code, 0, 0));
  CHECK(lines_of(it.read({{2, 2}}, {2}).list.at(0).stack) == std::vector<std::string>{"before train.py:5"});
  it.fake.memory.set(code + static_cast<Address>(it.fake.layout().code_name), it.fake.add_ascii("after"));
  CHECK(lines_of(it.read({{2, 2}}, {2}).list.at(0).stack) == std::vector<std::string>{"after train.py:5"});
}

TEST_CASE("an object that is no code is a frame without a name") {
  Fixture it(13);
  const Address code = it.code("f");
  it.fake.memory.set(code + 8, Address{42});
  it.fake.add_thread(2, it.fake.add_frame(code, 0, 0));
  CHECK(lines_of(it.read({{2, 2}}, {2}).list.at(0).stack) == std::vector<std::string>{"?"});
}

TEST_CASE("threads of no interpreter mean that the layout is another one") {
  Fixture it(12);
  const Address thread = it.fake.add_thread(2, 0);
  it.fake.memory.set(thread + 16, Address{0x1234});
  CHECK_FALSE(it.read({{2, 2}}, {2}).is_sound);
}

TEST_CASE("torn memory is read within bounds") {
  Fixture it(GENERATE(8, 10, 11, 12, 13));
  Address frame = 0;
  for (int i = 0; i < 5; ++i) frame = it.fake.add_frame(it.code("f"), 2, frame, static_cast<std::uint8_t>(i % 4));
  it.fake.hold_gil(it.fake.add_thread(2, frame));
  base::Rng rng(11);
  const auto whole = it.fake.memory.blocks();
  for (int round = 0; round < 400; ++round) {
    auto& blocks = it.fake.memory.blocks();
    blocks = whole;
    for (auto& [address, bytes] : blocks) {
      const std::uint64_t count = rng.below(6);
      for (std::uint64_t i = 0; i < count; ++i) {
        // Words that are small numbers, other objects, or anything at all.
        const Address values[] = {rng.below(4),
                                  std::next(whole.begin(), static_cast<long>(rng.below(whole.size())))->first,
                                  ~Address{0}, rng.below(UINT64_MAX)};
        const std::size_t at = rng.below(std::max<std::size_t>(1, bytes.size() / 8)) * 8;
        const Address value = values[rng.below(4)];
        if (at + 8 <= bytes.size()) std::memcpy(bytes.data() + at, &value, 8);
      }
    }
    it.fake.memory.reads = 0;
    const PythonThreads threads = it.read({{2, 2}}, {2});
    CHECK(it.fake.memory.reads < 5'000'000);
    for (const PythonThread& thread : threads.list) {
      CHECK(thread.stack.inner.size() <= wire::kInnerFrames);
      CHECK(thread.stack.outer.size() <= wire::kOuterFrames);
    }
  }
}
