#pragma once

#include "engine/moment.h"
#include "json/json.h"

namespace tenon::server {

/// As `GET /v1/runs/{run}/records/{record}` answers it.
[[nodiscard]] Json describe_moment(const engine::Moment& moment);

}  // namespace tenon::server
