#pragma once
// The mark in the header of a store's file.
#include <catch2/catch.hpp>

#include <fstream>
#include <string>

#include <distrun/runtime/store/log_format.hpp>

namespace distrun::stores {

// Fails the test case if the file has no mark.
inline LogMark mark_of(const std::string& path) {
  std::string header(kLogHeaderSize, '\0');
  std::ifstream(path).read(header.data(), kLogHeaderSize);
  const auto mark = mark_in(header);
  REQUIRE(mark);
  return *mark;
}

}  // namespace distrun::stores
