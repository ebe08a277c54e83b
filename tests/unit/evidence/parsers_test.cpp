// Small texts of /proc: system calls, locks, mappings, words and numbers.
#include <catch2/catch.hpp>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include <distrun/runner/evidence/proc/file_locks.hpp>
#include <distrun/runner/evidence/proc/proc_files.hpp>
#include <distrun/runner/evidence/proc/remote_memory.hpp>
#include <distrun/runner/evidence/proc/syscalls.hpp>
#include <distrun/runner/evidence/waits/decode_call.hpp>

using namespace distrun::evidence;

TEST_CASE("words and numbers are parsed completely or not at all") {
  Words words("  one \t two  ");
  CHECK(words.next() == "one");
  CHECK(words.next() == "two");
  CHECK(words.next().empty());
  CHECK(words.next().empty());
  CHECK(number_in<int>("12") == 12);
  CHECK(number_in<unsigned>("0x1f", 16) == 31U);
  CHECK_FALSE(number_in<int>(""));
  CHECK_FALSE(number_in<int>("12x"));
  CHECK_FALSE(number_in<int>("99999999999"));
  CHECK_FALSE(number_in<unsigned>("0x", 16));
}

TEST_CASE("a file of /proc is read up to its limit, and a missing file is an error") {
  CHECK(read_proc_file("/proc/self/status", 10).text.size() == 10);
  CHECK(read_proc_file("/proc/self/status", 10).cut);
  CHECK(read_proc_file("/proc/self/no-such-file").error == ENOENT);
  CHECK(numbers_in("/proc/self/no-such-directory", 10).error == ENOENT);
  CHECK(numbers_in("/proc", 1).cut);
}

TEST_CASE("a thread is in a system call with arguments, in none, or running") {
  const auto in_call = parse_syscall("0 0x5 0x7ffd00000010 0x1 0x0 0x0 0x0 0x7ffd00000000 0x7f4b00000000\n");
  REQUIRE(in_call);
  CHECK(in_call->where == SyscallText::Where::InCall);
  CHECK(in_call->number == 0);
  CHECK(in_call->args[0] == 5);
  CHECK(in_call->instruction == 0x7f4b00000000);
  CHECK_FALSE(in_call->is_32_bit());
  CHECK(parse_syscall("running\n")->where == SyscallText::Where::Running);
  CHECK(parse_syscall("-1 0x7ffd00000000 0x7f4b00000000\n")->where == SyscallText::Where::NotInCall);
  CHECK(parse_syscall("0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0\n")->where == SyscallText::Where::NotInCall);
  CHECK(parse_syscall("3 0x5 0x0 0x1 0x0 0x0 0x0 0xffd00000 0xf7f00000\n")->is_32_bit());
}

TEST_CASE("a text that is not a system call is refused") {
  for (const char* text : {"", "\n", "x", "0", "0 0x5", "0 5 6 7 8 9 zz 0x1 0x2", "0 0 0 0 0 0 0 0", "-1", "runs",
                           "99999999999999999999 0 0 0 0 0 0 0 0"}) {
    CHECK_FALSE(parse_syscall(text));
  }
}

TEST_CASE("system calls are identified by their number, and an interrupted one by where it sleeps") {
  REQUIRE(find_call(SYS_read) != nullptr);
  CHECK(find_call(SYS_read)->shape == CallShape::Reads);
  CHECK(find_call(SYS_wait4)->shape == CallShape::WaitsChild);
  CHECK(find_call(-5) == nullptr);
  CHECK(find_call(123'456) == nullptr);
  CHECK(restarted_call("futex_do_wait")->shape == CallShape::Futex);
  CHECK(restarted_call("hrtimer_nanosleep")->shape == CallShape::SleepsClock);
  CHECK(std::strstr(restarted_call("do_poll.constprop.0")->name, "poll") != nullptr);
  CHECK(restarted_call("do_syscall_64")->shape == CallShape::SleepsClock);
  CHECK(restarted_call("") == nullptr);
}

TEST_CASE("a waiting lock belongs to the held lock before it") {
  const auto waits = parse_locks(
      "1: POSIX  ADVISORY  WRITE 100 08:01:9 0 EOF\n"
      "2: FLOCK  ADVISORY  WRITE 4712 08:01:1234 0 EOF\n"
      "2: -> FLOCK  ADVISORY  WRITE 4711 08:01:1234 0 EOF\n"
      "2: -> FLOCK  ADVISORY  WRITE 4713 08:01:1234 0 EOF\n"
      "3: OFDLCK ADVISORY  WRITE -1 08:01:5 0 EOF\n"
      "3: -> OFDLCK ADVISORY  WRITE -1 08:01:5 0 EOF\n");
  CHECK(waits == std::vector<LockWait>{{4711, 4712, "08:01:1234", "FLOCK"},
                                       {4713, 4712, "08:01:1234", "FLOCK"},
                                       {-1, -1, "08:01:5", "OFDLCK"}});
}

TEST_CASE("invalid lines of locks, and waits for a lock that is not listed, are skipped") {
  CHECK(parse_locks("").empty());
  CHECK(parse_locks("1: -> FLOCK  ADVISORY  WRITE 4711 08:01:1234 0 EOF\n").empty());
  CHECK(parse_locks("->\n1:\n1: FLOCK\n1: FLOCK A W x 08:01:1 0\n1: -> FLOCK A W 5\n").empty());
}

TEST_CASE("an address in shared memory is a place in its file") {
  const char* maps =
      "7f0000000000-7f0000001000 rw-p 00000000 00:00 0 \n"
      "7f0000001000-7f0000003000 rw-s 00002000 00:17 1234                       /dev/shm/a b\n"
      "7f0000003000-7f0000004000 rw-s 00000000 00:01 55\n";
  const auto place = find_shared(maps, 0x7f0000001040);
  REQUIRE(place);
  CHECK(*place == SharedPlace{"00:17:1234", "/dev/shm/a b", 0x2040});
  CHECK_FALSE(find_shared(maps, 0x7f0000000010));  // private
  CHECK_FALSE(find_shared(maps, 0x7f0000005000));  // not mapped
  CHECK(find_shared(maps, 0x7f0000003ff0)->path.empty());
}

TEST_CASE("invalid maps are empty") {
  for (const char* maps : {"", "\n", "-", "0-ffff", "0-ffff rw-s", "0-ffff rw-s zz 00:00 1 /x",
                           "ffff-0 rw-s 0 0:0 1 /x", "0 rw-s 0 0:0 1 /x", "0-ffff rws 0 0:0 1 /x"}) {
    CHECK_FALSE(find_shared(maps, 0x10));
  }
}

TEST_CASE("memory is read where it is mapped, and nothing elsewhere") {
  const RemoteMemory own(::getpid(), true);
  const std::uint32_t numbers[] = {1, 2, 3};
  const auto address = [](const void* place) { return std::uint64_t{reinterpret_cast<std::uintptr_t>(place)}; };
  CHECK(own.value<std::uint32_t>(address(numbers)) == 1U);
  CHECK(own.values<std::uint32_t>(address(numbers), 3) == std::vector<std::uint32_t>{1, 2, 3});
  CHECK_FALSE(own.value<std::uint32_t>(16));
  CHECK(own.values<std::uint32_t>(16, 3).empty());
  CHECK(own.string(address("a\x1b[31mb")) == "a\\x1b[31mb");
  CHECK(own.string(16).empty());
  CHECK_FALSE(RemoteMemory(::getpid(), false).value<std::uint32_t>(address(numbers)));
}

TEST_CASE("a string at the end of mapped memory is read up to it") {
  const long page = ::sysconf(_SC_PAGESIZE);
  auto* pages = static_cast<char*>(
      ::mmap(nullptr, static_cast<std::size_t>(2 * page), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  REQUIRE(pages != MAP_FAILED);
  ::munmap(pages + page, static_cast<std::size_t>(page));
  std::memcpy(pages + page - 3, "xyz", 3);
  CHECK(RemoteMemory(::getpid(), true).string(reinterpret_cast<std::uintptr_t>(pages + page - 3)) == "xyz");
  ::munmap(pages, static_cast<std::size_t>(page));
}

TEST_CASE("lengths are short texts") {
  CHECK(shown_length(0, 20'000'000) == "20 ms");
  CHECK(shown_length(1, 500'000'000) == "1.5 s");
  CHECK(shown_length(100'000, 0) == "100000 s");
  CHECK(shown_length(3600 * 24 * 10, 0) == "10 days");
  CHECK(shown_length(-1, 0).empty());
}
