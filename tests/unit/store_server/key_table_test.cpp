// Requests that no store makes, but that may come from outside.
#include <catch2/catch.hpp>

#include <cstring>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/rng.hpp>
#include <distrun/common/store_server/key_table.hpp>
#include <distrun/runtime/store/log_format.hpp>

namespace distrun::stores {
namespace {

TEST_CASE("a request with a wrong number of keys or values is refused, and has no effect") {
  KeyTable table;
  const std::vector<std::string> one{"a"}, two{"a", "b"};
  for (int op = 0; op < 256; ++op) {
    for (const auto& keys : {std::vector<std::string>(), one, two}) {
      for (const auto& values : {std::vector<std::string>(), one, two}) {
        const Request request{static_cast<Op>(op), keys, values, 1};
        try {
          table.run(request);
        } catch (const Error& error) {
          CHECK(error.kind() == ErrorKind::InvalidArgument);
        }
      }
    }
  }
  CHECK_THROWS_WITH(table.run({Op::Set, two, one, 0}), "malformed request set: it has 2 keys and 1 values");
  CHECK_THROWS_WITH(table.run({static_cast<Op>(99), {}, {}, 0}),
                    "malformed request unknown: it has 0 keys and 0 values");
}

TEST_CASE("the number of keys of a table is limited, and existing ones can still be set") {
  KeyTable table;
  for (std::size_t i = 0; i < kKeys; ++i) table.run({Op::Set, {std::to_string(i)}, {""}, 0});
  CHECK_THROWS_WITH(table.run({Op::Set, {"more"}, {""}, 0}), Catch::StartsWith("a store has 131072 keys at most"));
  CHECK_THROWS_AS(table.run({Op::QueuePush, {"more"}, {""}, 0}), Error);
  CHECK_FALSE(table.run({Op::QueuePop, {"more"}, {}, 0}).is_ready);  // it waits, as usual
  CHECK(table.run({Op::Delete, {"more"}, {}, 0}).number == 0);
  CHECK_NOTHROW(table.run({Op::Set, {"1"}, {"one"}, 0}));
  CHECK(table.run({Op::Get, {"1"}, {}, 0}).values[0] == "one");
}

TEST_CASE("many empty values take space as well") {
  KeyTable table;
  const std::string value(kValueSize, 'v');
  std::size_t pushed = 0;
  CHECK_THROWS_AS(([&] {
                    for (;; ++pushed) table.run({Op::QueuePush, {"queue"}, {value}, 0});
                  }()),
                  Error);
  CHECK(pushed == 127);
  table.run({Op::Delete, {"queue"}, {}, 0});
  CHECK_NOTHROW(table.run({Op::QueuePush, {"queue"}, {value}, 0}));
}

TEST_CASE("missing keys are named with similar existing ones") {
  KeyTable table;
  for (const char* const key : {"step", "worlds/ring/ready", "done"}) table.run({Op::Set, {key}, {"x"}, 0});
  const Request wait{Op::Wait, {"setp", "worlds/ring/raedy", "worlds/star/ready", "done", "other"}, {}, 0};
  CHECK(table.named_missing(wait) == std::vector<std::string>{"setp (did you mean step?)",
                                                              "worlds/ring/raedy (did you mean worlds/ring/ready?)",
                                                              "worlds/star/ready", "other"});
  CHECK(table.named_missing({Op::Get, {"stepp"}, {}, 0}) == std::vector<std::string>{"stepp (did you mean step?)"});
}

// Returns the whole content of a table, independent of its history.
std::string content_of(const KeyTable& table) {
  std::string all;
  table.snapshot([&](const Request& request) {
    for (const auto* const texts : {&request.keys, &request.values}) {
      for (const std::string& text : *texts) all += std::to_string(text.size()) + ":" + text + " ";
    }
  });
  return all;
}

TEST_CASE("a snapshot builds the same table again, and its size is known in advance") {
  KeyTable table, again;
  const auto size_of = [](const KeyTable& from) {
    std::size_t size = 0;
    from.snapshot([&](const Request& request) { size += wire::encode(request).size(); });
    return size;
  };
  CHECK(table.snapshot_bytes() == 0);
  base::Rng random(22);
  for (int i = 0; i < 3000; ++i) {
    const std::string key(random.below(30), static_cast<char>('a' + random.below(26)));
    const std::string value(random.below(500), 'v');
    switch (random.below(6)) {
      case 0: table.run({Op::Delete, {key}, {}, 0}); break;
      case 1: table.run({Op::TryQueuePop, {key}, {}, 0}); break;
      case 2:
      case 3: table.run({Op::QueuePush, {key}, {value, key}, 0}); break;
      default: table.run({Op::Set, {key}, {value}, 0}); break;
    }
    if (i % 100 == 0) CHECK(table.snapshot_bytes() >= size_of(table));
  }
  table.snapshot([&](const Request& request) { again.run(request); });
  CHECK(content_of(again) == content_of(table));
  CHECK(again.snapshot_bytes() == table.snapshot_bytes());
  std::vector<std::string> keys;
  table.snapshot([&](const Request& request) { keys.insert(keys.end(), request.keys.begin(), request.keys.end()); });
  for (const std::string& key : keys) table.run({Op::Delete, {key}, {}, 0});
  CHECK(table.snapshot_bytes() == 0);
  CHECK(content_of(table).empty());
}

// Computed bit by bit, by definition.
std::uint32_t plain_crc_of(std::string_view bytes) {
  std::uint32_t crc = 0xFFFFFFFFU;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? 0xEDB88320U ^ (crc >> 1) : crc >> 1;
  }
  return ~crc;
}

TEST_CASE("a record has the CRC-32 of its bytes, and a truncated or changed one is noticed") {
  CHECK(plain_crc_of("123456789") == 0xCBF43926U);
  for (std::size_t size = 0; size < 40; ++size) {
    const std::string bytes = encode_record({Op::Set, {"key"}, {std::string(size, static_cast<char>(0x80 + size))}, 7});
    std::uint32_t crc = 0;
    std::memcpy(&crc, bytes.data() + sizeof crc, sizeof crc);
    CHECK(crc == plain_crc_of(std::string_view(bytes).substr(kRecordHeadSize)));
    CHECK(record_at(bytes).kind == RecordAt::Kind::Record);
    CHECK(record_at(bytes).size == bytes.size());
    CHECK(record_at(std::string_view(bytes).substr(0, bytes.size() - 1)).kind == RecordAt::Kind::Part);
    std::string changed = bytes;
    changed.back() = static_cast<char>(changed.back() ^ 4);
    CHECK(record_at(changed).kind == RecordAt::Kind::Damaged);
  }
  CHECK(record_at(std::string(64, '\0')).kind == RecordAt::Kind::Damaged);
  CHECK(record_at(encode_snapshot_head()).kind == RecordAt::Kind::Snapshot);
}

}  // namespace
}  // namespace distrun::stores
