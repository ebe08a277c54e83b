#include <distrun/common/io/spawn.hpp>

#include <boost/asio/co_spawn.hpp>

#include <utility>

namespace distrun::io {

void spawn(Loop& loop, Task<void> task, std::function<void(std::exception_ptr)> on_end) {
  boost::asio::co_spawn(loop.context(), std::move(task), std::move(on_end));
}

}  // namespace distrun::io
