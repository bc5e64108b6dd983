#pragma once

#include <cstdint>
#include <string>

#include "json/json.h"

namespace tenon::server {

/// Whether the routes of the studio's page are part of the document.
enum class StudioRoutes : std::uint8_t { LeftOut, Listed };

/// The OpenAPI document (3.1), made from the table of routes and the schemas of the answers. docs/protocol/openapi.json
/// is the one with all routes, from which the types of the studio's page are generated.
[[nodiscard]] Json make_openapi(StudioRoutes studio);

/// The schemas of requests and answers by name: Route::answer names one of these. Clients must ignore members that they
/// do not know.
[[nodiscard]] Json make_schemas();

}  // namespace tenon::server
