#pragma once

#include <cstddef>
#include <string>

/// Puts `count` conversations into the store that wait for a person: with the program of a run that the store has, and
/// what the one before them says in each turn. An exit code.
int seed_conversations(const std::string& store, const std::string& run, std::size_t count);
