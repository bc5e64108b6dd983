#include "cli/commands.h"

namespace tenon::cli {
int format(const FormatCommand&, const Environment&) { return exit_failed; }
}  // namespace tenon::cli
