#pragma once
// What every backend of process groups must do. The cases are in backend_contract.cpp; each backend has a binary of its
// own, whose one other source says how its ranks are had.
#include <functional>
#include <string>
#include <vector>

#include <distrun/runtime/collectives/backend.hpp>

namespace distrun::collectives {

using Body = std::function<void(Backend& backend, const GroupInfo& group)>;

// Runs it on so many ranks, each with the backend of a group of all; what each has thrown, empty: nothing. A body says
// by an exception what it finds wrong: checks of Catch2 belong to one thread. Skips the case if the backend can't be
// had.
std::vector<std::string> run_ranks(int ranks, const Body& body);
// Whether letters of one rank to another are told apart by their tags; else they come as they were sent.
bool letters_have_tags();

}  // namespace distrun::collectives
