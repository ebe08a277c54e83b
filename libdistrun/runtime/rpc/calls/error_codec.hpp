#pragma once
// Errors in messages: kind, type name, text, place and stack on the callee. The caller throws an error of the same kind
// and type, or a RuntimeError that names the type if it cannot be rebuilt.
#include <exception>
#include <functional>
#include <string>

#include <distrun/common/base/error.hpp>
#include <distrun/common/wire/buffer.hpp>
#include <distrun/runtime/rpc/worker_info.hpp>

namespace distrun::rpc {

// Converts a thrown exception to an Error: standard exceptions get Python's names (std::out_of_range becomes
// IndexError), others the name of their class.
Error error_of(const std::exception_ptr& thrown) noexcept;
// Returns whether memory or threads were wanting: what has failed was no one's fault, and is not known to be undone.
bool is_shortage(const Error& why) noexcept;

// Returns the error with texts cut to 256 KiB, and context lines to 4 KiB; the texts say so.
Error with_bounded_texts(const Error& error);

// Writes the error with "On WorkerInfo(id=1, name=worker1): ..." as its remote trace, followed by the error's own trace
// of its throw (common/symbols) and of earlier workers; at most 64 KiB.
void write_error(wire::ByteWriter& bytes, const Error& error, const WorkerInfo& on);
// Throws Error{InvalidArgument} for a malformed error.
std::exception_ptr read_error(wire::ByteReader& bytes);

// Registers how an error of a user-defined type is rebuilt from its text. Without it, or if `rebuild` throws, it
// becomes a RuntimeError "Original exception on remote side was X: text". Thread-safe.
void register_error_type(std::string type, std::function<std::exception_ptr(const Error&)> rebuild);

// Returns the text for logs: "On WorkerInfo(id=1, name=worker1):\nValueError: text\n at file:line".
std::string describe_on(const WorkerInfo& worker, const Error& error);

}  // namespace distrun::rpc
