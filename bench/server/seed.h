#pragma once

#include <cstddef>
#include <string>

/// Adds `count` conversations that wait for a person to the store, with the program of a run that is already there.
/// Returns an exit code.
int seed_conversations(const std::string& store, const std::string& run, std::size_t count);
