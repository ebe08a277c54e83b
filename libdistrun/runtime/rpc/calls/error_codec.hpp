#pragma once
// Errors as they travel: kind, type name, text, place and stack of the callee. The caller throws an error of the same
// kind and type; of types that can't be made of that, a RuntimeError that says what it was.
#include <exception>
#include <functional>
#include <string>

#include <distrun/common/base/error.hpp>
#include <distrun/common/wire/buffer.hpp>
#include <distrun/runtime/rpc/worker_info.hpp>

namespace distrun::rpc {

// Whatever was thrown as an Error: those of the standard library under the names that people know (std::out_of_range
// is an IndexError), others under the name of their class.
Error error_of(const std::exception_ptr& thrown);

// The same with texts that are no burden to send, log and keep: of 256 KiB, context of 4 KiB a line. What is cut off is
// said.
Error with_bounded_texts(const Error& error);

// With "On WorkerInfo(id=1, name=worker1): ..." as its remote trace, and what that of the error was, which tells of its
// throw (common/symbols) and of others that it came from; 64 KiB at most.
void write_error(wire::ByteWriter& bytes, const Error& error, const WorkerInfo& on);
// Throws Error{InvalidArgument} for what is none.
std::exception_ptr read_error(wire::ByteReader& bytes);

// How an error of a type of one's own is made again of its text. Without, and if `rebuild` throws, it is a RuntimeError
// "Original exception on remote side was X: text". Any thread.
void register_error_type(std::string type, std::function<std::exception_ptr(const Error&)> rebuild);

// As it is logged: "On WorkerInfo(id=1, name=worker1):\nValueError: text\n  at file:line".
std::string describe_on(const WorkerInfo& worker, const Error& error);

}  // namespace distrun::rpc
