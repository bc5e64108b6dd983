#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "graph/edit.h"
#include "json/json.h"
#include "server/http_message.h"
#include "server/program_files.h"

// What the routes for programs answer alike.
namespace tenon::server {

/// For what only those may see who may edit the programs.
[[nodiscard]] HttpResponse make_editing_is_off();
/// An error with further members beside `error`.
[[nodiscard]] HttpResponse refuse_edit(int status, std::string_view code, std::string_view message, const Json& more);
/// Why edits of a graph are rejected.
[[nodiscard]] HttpResponse make_refusal(const graph::Refusal& refusal);
/// The text in the program's file.
[[nodiscard]] Result<std::string, HttpResponse> read_program(const ProgramFiles& programs,
                                                             const ProgramFiles::File& file);
/// The errors, warnings and notes of a text of the program at `path`, as diagnostics::to_json, with the names of files
/// as clients may see them.
[[nodiscard]] Json diagnose_program(const ProgramFiles& programs, const std::string& path, std::string_view text);

}  // namespace tenon::server
