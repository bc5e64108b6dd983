#pragma once

#include <string>
#include <vector>

#include "journal/postgres/session.h"

namespace tenon::journal::postgres {

/// Sends notices to channels, in their order, in a transaction of its own.
[[nodiscard]] Result<void, SessionError> notify(Session& session, const std::vector<Notification>& notices);

}  // namespace tenon::journal::postgres
