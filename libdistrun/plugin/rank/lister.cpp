#include <distrun/plugin/rank/lister.hpp>

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include <distrun/common/base/error.hpp>
#include <distrun/common/wire/zygote.hpp>
#include <distrun/plugin/rank/entry.hpp>
#include <distrun/plugin/rank/plugin.hpp>

namespace distrun::rank {
namespace {

wire::Bytes read_to_end(int fd) {
  wire::Bytes bytes;
  std::array<std::byte, 4096> buffer;
  for (;;) {
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return bytes;
    bytes.insert(bytes.end(), buffer.data(), buffer.data() + got);
  }
}

void write_all(int fd, const wire::Bytes& bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t sent = ::send(fd, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return;  // the coordinator has given up on this process
    done += static_cast<std::size_t>(sent);
  }
}

wire::ListReply list(const std::string& plugin, const wire::ListOrder& order) {
  wire::ListReply reply;
  try {
    const wire::PluginTable table = Plugin(plugin).list(order);
    const wire::Bytes bytes = wire::encode(table);
    reply.table.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  } catch (const Error& error) {
    reply.error = error.what();
  }
  return reply;
}

}  // namespace

int run_lister(const std::string& plugin, base::Fd line) {
  let_probe_in(::getppid());
  const auto order = wire::decode<wire::ListOrder>(wire::view_of(read_to_end(line.get())));
  write_all(line.get(), wire::encode(list(plugin, order)));
  return 0;
}

}  // namespace distrun::rank
