#include <distrun/runner/launch/mount_space.hpp>

#include <sys/socket.h>
#include <unistd.h>

#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/io/one_shot.hpp>
#include <distrun/common/io/packet_socket.hpp>
#include <distrun/runner/launch/helper_process.hpp>

namespace distrun::launch {
namespace {

std::string path_of(const base::Fd& fd) {
  return fd ? "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(fd.get()) : "";
}

std::vector<std::string> words_of(const std::vector<Mount>& mounts) {
  std::vector<std::string> words{"--mounts"};
  for (const Mount& mount : mounts) words.insert(words.end(), {mount.from, mount.to});
  return words;
}

std::shared_ptr<MountSpace> space_of(wire::Packet& packet) {
  const auto made = wire::decode<wire::MountsMade>(wire::view_of(packet.bytes));
  if (!made.error.empty()) throw Error(ErrorKind::Failed, made.error);
  if (packet.fds.empty() || packet.fds.size() > 2) throw Error(ErrorKind::Failed, "its helper sent no descriptors");
  return std::make_shared<LocalMountSpace>(std::move(packet.fds.front()),
                                           packet.fds.size() == 2 ? std::move(packet.fds.back()) : base::Fd());
}

}  // namespace

wire::MountSpace LocalMountSpace::name() const { return {path_of(mounts_), path_of(users_)}; }

io::Task<std::shared_ptr<MountSpace>> make_mount_space(io::Loop& loop, std::string rank_program,
                                                       std::vector<std::string> environment, std::vector<Mount> mounts,
                                                       base::Nanoseconds bound) {
  base::FdPair line = base::make_socket_pair(SOCK_SEQPACKET);
  HelperProcess::Spec spec;
  spec.program = std::move(rank_program);
  spec.arguments = words_of(mounts);
  spec.environment = std::move(environment);
  spec.line = line.second.get();
  io::OneShot<proc::ExitStatus> ended(loop);
  HelperProcess helper(loop, spec, [&](proc::ExitStatus status) { ended.set(status); });
  line.second.reset();
  std::optional<wire::Packet> answer;
  io::PacketSocket socket(loop, std::move(line.first),
                          {[&](wire::Packet packet) { answer = std::move(packet); }, [] {}});
  bool timed_out = false;
  io::Alarm alarm(loop, [&] {
    timed_out = true;
    helper.kill();
  });
  alarm.set_after(bound);
  const proc::ExitStatus status = co_await ended.wait();
  socket.drain();
  if (answer) co_return space_of(*answer);
  if (timed_out) throw Error(ErrorKind::Timeout, "the file systems were not mounted within " + base::human(bound));
  throw Error(ErrorKind::Failed, "its helper " + status.describe() + helper.last_words());
}

}  // namespace distrun::launch
