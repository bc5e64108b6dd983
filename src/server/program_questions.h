#pragma once

#include "server/api.h"

namespace tenon::server {

// What an editor asks about a text that it is editing. Nothing is written. `programs`: none without --edit, which is
// answered.

/// The names that can be written at a place.
void complete_program(const ProgramFiles* programs, const Api::Call& call);
/// What the name at a place means; an empty object if there is none.
void explain_program(const ProgramFiles* programs, const Api::Call& call);

/// What would be sent to models at each site of the text.
void show_prompts(const ProgramFiles* programs, const Api::Call& call);
/// The Kripke structure of each `pursue` of the text, drawn.
void show_plans(const ProgramFiles* programs, const Api::Call& call);

}  // namespace tenon::server
