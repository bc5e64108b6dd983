#pragma once

#include <string_view>

/// The names under which Function::variables has the present state of a `pursue`, each followed by its `LINE:COLUMN`.
/// No variable of a text has such a name.
namespace tenon::bytecode {

/// The action that has led to the state, from 1; 0: it is the initial one.
inline constexpr std::string_view pursuit_action = "pursue action ";
inline constexpr std::string_view pursuit_value = "pursue value ";
/// Of a `pursue` with a width instead of both: a list of records that begin with a value and an action.
inline constexpr std::string_view pursuit_states = "pursue states ";

}  // namespace tenon::bytecode
