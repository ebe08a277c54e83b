#pragma once
// Coroutines for control flow. Two rules keep them correct on all supported compilers: no braces and no owning lambda
// in a statement with co_await (g++ 12 destroys such temporaries twice), and parameters of a spawned coroutine by
// value. scripts/tidy enforces the first.
#include <boost/asio/awaitable.hpp>

namespace distrun::io {

namespace asio = boost::asio;

template <class T>
using Task = asio::awaitable<T>;

}  // namespace distrun::io
