#include <distrun/runtime/device/drivers/cpu/block_cache.hpp>

#include <catch2/catch.hpp>

#include <cstring>
#include <vector>

#include <distrun/runtime/device/memory/allocator.hpp>

namespace distrun::device {
namespace {

constexpr std::size_t kMebibyte = std::size_t{1} << 20;

// Takes blocks of these sizes in order, and returns them in the same order.
void use_blocks(const std::vector<std::size_t>& sizes) {
  std::vector<std::pair<void*, std::size_t>> blocks;
  for (const std::size_t bytes : sizes) {
    std::size_t size = 0;
    void* block = take_block(bytes, size);
    REQUIRE(block != nullptr);
    REQUIRE(size >= bytes);
    std::memset(block, 1, bytes);
    blocks.emplace_back(block, size);
  }
  for (const auto& [block, size] : blocks) give_block(block, size);
}

TEST_CASE("a large block that was freed is handed out for about its size only") {
  free_kept_blocks();
  use_blocks({10 * kMebibyte});
  std::size_t size = 0;
  void* smaller = take_block(5 * kMebibyte, size);
  CHECK(size == 5 * kMebibyte);
  void* same = take_block(9 * kMebibyte, size);
  // Under a sanitizer nothing is kept: a new block has the requested size.
  CHECK((size == 10 * kMebibyte || size == 9 * kMebibyte));
  give_block(same, size);
  give_block(smaller, 5 * kMebibyte);
  free_kept_blocks();
}

TEST_CASE("blocks of all sizes come and go, more than are kept") {
  std::vector<std::size_t> sizes{0, 1, 1000};
  for (std::size_t i = 0; i < 40; ++i) sizes.push_back((i % 7 + 1) * kMebibyte);
  for (int round = 0; round < 3; ++round) use_blocks(sizes);
  use_blocks({200 * kMebibyte});
  free_kept_blocks();
}

TEST_CASE("memory of the CPU is aligned and as large as asked for, kept or new") {
  for (int round = 0; round < 2; ++round) {
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{4096}, kMebibyte, 5 * kMebibyte}) {
      const auto memory = allocate(kCpu, bytes);
      CHECK(memory->bytes() == bytes);
      CHECK(reinterpret_cast<std::uintptr_t>(memory->data()) % 64 == 0);
      std::memset(memory->data(), 1, bytes);
    }
  }
  empty_cache(kCpu);
}

}  // namespace
}  // namespace distrun::device
