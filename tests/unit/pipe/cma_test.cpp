// Reads memory of other processes.
#include <catch2/catch.hpp>

#include <signal.h>
#include <unistd.h>

#include <cstring>

#include <agents/pipe/transports/cma.hpp>
#include <distrun/common/base/error.hpp>

#include "support/skip.hpp"
#include "unit/support/forked.hpp"

namespace distrun::agents::pipe {
namespace {

using distrun::testing::fork_child;
using distrun::testing::in_child;
using distrun::testing::skip_case_if;

TEST_CASE("an offer says where it is valid, the same in processes of one namespace") {
  const Offer own = cma_offer();
  CHECK(own.name == "cma");
  CHECK_THAT(own.descriptor, Catch::StartsWith("boot id=") && Catch::Contains(", uid=" + std::to_string(::geteuid())) &&
                                 Catch::Contains(", pid namespace="));
  CHECK(in_child([&] { return cma_offer().descriptor == own.descriptor ? 0 : 1; }).code == 0);
}

TEST_CASE("bytes of a process are read, and reading unmapped memory is an error") {
  const Offer offer = cma_offer();
  skip_case_if(!offer.why_not.empty(), offer.why_not);
  std::vector<std::uint8_t> bytes(100'000, 1);
  const base::FdPair line = base::make_pipe();
  const pid_t child = fork_child([&] {
    std::memset(bytes.data(), 7, bytes.size());
    (void)cma_offer();
    if (::write(line.second.get(), "x", 1) != 1) return 1;
    ::pause();
    return 0;
  });
  char byte = 0;
  const ssize_t count = ::read(line.first.get(), &byte, 1);
  std::vector<std::byte> found(bytes.size());
  std::string why;
  std::string why_absent;
  try {
    read_remote(child, reinterpret_cast<std::uintptr_t>(bytes.data()), found.data(), found.size());
  } catch (const Error& error) {
    why = error.what();
  }
  try {
    read_remote(child, 16, found.data(), 8);
  } catch (const Error& error) {
    why_absent = error.what();
  }
  ::kill(child, SIGKILL);
  distrun::testing::wait_for(child);
  CHECK(count == 1);
  CHECK(why.empty());
  CHECK(found == std::vector<std::byte>(bytes.size(), std::byte{7}));
  CHECK_THAT(why_absent, Catch::StartsWith("cannot read 8 bytes of process "));
  CHECK_THROWS_WITH(read_remote(child, 16, found.data(), 8), "process " + std::to_string(child) + " is gone");
}

}  // namespace
}  // namespace distrun::agents::pipe
