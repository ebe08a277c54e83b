#include <catch2/catch.hpp>

#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <distrun/runner/evidence/proc/descriptors.hpp>
#include <distrun/runner/proc/pidfd.hpp>

#include "cast.hpp"
#include "support/scratch.hpp"
#include "support/skip.hpp"

using namespace distrun;
using namespace distrun::evidence;
using base::Fd;

namespace {

Descriptor find(const Descriptors& all, const Fd& fd) {
  for (const Descriptor& descriptor : all.list) {
    if (descriptor.fd == fd.get()) return descriptor;
  }
  FAIL("descriptor " << fd.get() << " was not found");
  return {};
}

std::uint64_t inode_of(const Fd& fd) {
  struct stat status {};
  ::fstat(fd.get(), &status);
  return status.st_ino;
}

}  // namespace

TEST_CASE("a link in /proc shows the kind of a descriptor") {
  CHECK(parse_fd_link(3, "pipe:[8812]").kind == DescriptorKind::Pipe);
  CHECK(parse_fd_link(3, "pipe:[8812]").id == FileId{0, 8812});
  CHECK(parse_fd_link(3, "socket:[77]").kind == DescriptorKind::OtherSocket);
  CHECK(parse_fd_link(3, "socket:[77]").id.inode == 77);
  CHECK(parse_fd_link(3, "anon_inode:[eventpoll]").kind == DescriptorKind::Epoll);
  CHECK(parse_fd_link(3, "anon_inode:[pidfd]").kind == DescriptorKind::Pidfd);
  CHECK(parse_fd_link(3, "anon_inode:[perf_event]").kind == DescriptorKind::Other);
  CHECK(parse_fd_link(3, "/tmp/x").kind == DescriptorKind::File);
  CHECK(parse_fd_link(3, "/tmp/x").path == "/tmp/x");
}

TEST_CASE("a malformed link is some other descriptor") {
  for (const char* link : {"", "pipe:[", "pipe:[]", "pipe:[8812", "pipe:[-1]", "pipe:[99999999999999999999999]",
                           "pipe:[1]2", "socket:[0x10]", "pipe", "[]", "x"}) {
    CHECK(parse_fd_link(3, link).kind == DescriptorKind::Other);
  }
}

TEST_CASE("fdinfo shows access, watches, the process of a pidfd and locks") {
  Descriptor descriptor;
  parse_fdinfo(
      "pos:\t0\nflags:\t0104001\nmnt_id:\t15\nino:\t8812\n"
      "tfd:        5 events:       19 data:                5  pos:0 ino:22 sdev:9\n"
      "tfd:        6 events:        4 data:                6  pos:0 ino:23 sdev:9\n"
      "Pid:\t4711\nNSpid:\t4711\n"
      "lock:\t1: FLOCK  ADVISORY  WRITE 4711 08:01:1234 0 EOF\n",
      descriptor);
  CHECK_FALSE(descriptor.reads);
  CHECK(descriptor.writes);
  CHECK(descriptor.nonblocking);
  CHECK(descriptor.watches == std::vector<Watch>{{5, true, false}, {6, false, true}});
  CHECK(descriptor.process == 4711);
  CHECK(descriptor.locks == std::vector<std::string>{"08:01:1234"});
}

TEST_CASE("invalid fdinfo changes nothing") {
  Descriptor descriptor;
  parse_fdinfo(
      "flags:\nflags:\tzz\ntfd:\ntfd: 5\ntfd: 5 events: q\ntfd: x events: 1\nlock:\nlock: 1: FLOCK\nPid:\tx\n"
      "\n\n:::\nflags",
      descriptor);
  CHECK_FALSE(descriptor.reads);
  CHECK(descriptor.watches.empty());
  CHECK(descriptor.locks.empty());
  CHECK(descriptor.process == 0);
  std::string many;
  for (std::size_t i = 0; i < kWatchesMax + 10; ++i) many += "tfd: 5 events: 1\n";
  parse_fdinfo(many, descriptor);
  CHECK(descriptor.watches.size() == kWatchesMax);
}

TEST_CASE("the descriptors of a process are the ones that it opened") {
  const testing::Scratch scratch;
  const base::FdPair pipe = base::make_pipe();
  const base::FdPair pair = base::make_socket_pair(SOCK_STREAM);
  const Fd tcp(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const Fd udp(::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const Fd event(::eventfd(0, EFD_CLOEXEC));
  const Fd directory(::open(scratch.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const Fd null(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  const std::string name = scratch.path() + "/fifo";
  REQUIRE(::mkfifo(name.c_str(), 0600) == 0);
  const Fd fifo(::open(name.c_str(), O_RDWR | O_CLOEXEC));
  const Fd self = proc::open_pidfd(::getpid());
  const Descriptors all = descriptors_of(::getpid());
  CHECK(all.why_none.empty());
  const Descriptor reading = find(all, pipe.first);
  CHECK(reading.kind == DescriptorKind::Pipe);
  CHECK(reading.id == FileId{0, inode_of(pipe.first)});
  CHECK((reading.reads && !reading.writes));
  const Descriptor writing = find(all, pipe.second);
  CHECK(writing.id == reading.id);
  CHECK((!writing.reads && writing.writes));
  CHECK(find(all, pair.first).kind == DescriptorKind::UnixSocket);
  CHECK(find(all, pair.first).id.inode == inode_of(pair.first));
  CHECK(find(all, tcp).kind == DescriptorKind::Tcp);
  CHECK(find(all, udp).kind == DescriptorKind::Udp);
  CHECK(find(all, event).kind == DescriptorKind::Eventfd);
  CHECK(find(all, directory).kind == DescriptorKind::Directory);
  CHECK(find(all, directory).path == scratch.path());
  CHECK(find(all, null).kind == DescriptorKind::Device);
  CHECK(find(all, fifo).kind == DescriptorKind::Pipe);
  CHECK(find(all, fifo).id.device != 0);
  CHECK((find(all, fifo).reads && find(all, fifo).writes));
  CHECK(find(all, self).kind == DescriptorKind::Pidfd);
  CHECK(find(all, self).process == ::getpid());
}

TEST_CASE("an epoll descriptor shows what it watches and for what") {
  const base::FdPair pipe = base::make_pipe();
  const Fd poll(::epoll_create1(EPOLL_CLOEXEC));
  epoll_event wanted{};
  wanted.events = EPOLLIN;
  REQUIRE(::epoll_ctl(poll.get(), EPOLL_CTL_ADD, pipe.first.get(), &wanted) == 0);
  wanted.events = EPOLLOUT | EPOLLET;
  REQUIRE(::epoll_ctl(poll.get(), EPOLL_CTL_ADD, pipe.second.get(), &wanted) == 0);
  std::vector<Watch> watches = find(descriptors_of(::getpid()), poll).watches;
  std::sort(watches.begin(), watches.end(), [](const Watch& one, const Watch& other) { return one.fd < other.fd; });
  CHECK(watches == std::vector<Watch>{{pipe.first.get(), true, false}, {pipe.second.get(), false, true}});
}

TEST_CASE("a process that has exited has no descriptors, with a reason") {
  const pid_t gone = testing::fork_child([] { return 0; });
  testing::wait_for(gone);
  const Descriptors none = descriptors_of(gone);
  CHECK(none.list.empty());
  CHECK(none.why_none == "the process has ended (no such process)");
}

TEST_CASE("another user's process shows no descriptors, with a reason") {
  testing::skip_case_if(::geteuid() != 0, "only root can become another user");
  const pid_t parent = ::getpid();
  const testing::ForkedEnd end = testing::in_child([&] {
    if (::setgid(65534) != 0 || ::setuid(65534) != 0) return 2;
    const Descriptors none = descriptors_of(parent);
    return none.list.empty() && none.why_none.find("EACCES") != std::string::npos ? 0 : 1;
  });
  CHECK(end.code == 0);
}
