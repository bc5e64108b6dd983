#pragma once

#include <string>

#include "base/result.h"
#include "cli/environment.h"
#include "server/studio_files.h"

namespace tenon::cli {

/// Where the studio listens unless `--port` says otherwise: always the same, so that an open page finds it again.
inline constexpr std::uint16_t studio_port = 8088;

/// The files of the studio's page, which are part of the binary (cmake/studio.cmake).
[[nodiscard]] server::StudioFiles studio_files();

/// The token of the studio on a store: the one in the private file beside it, which is created if it is missing. Of a
/// store in a database, a new one. The error says why there is none.
[[nodiscard]] Result<std::string, std::string> studio_token(const std::string& store);

/// Opens the address in the desktop's browser, if there is a desktop. The address has the token, which other users of
/// the machine would see in a command line: the browser is given a private file, beside the store, that leads there.
void open_in_browser(const std::string& address, const std::string& store, const Environment& environment);

}  // namespace tenon::cli
