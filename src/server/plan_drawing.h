#pragma once

#include "json/json.h"

namespace tenon::server {

/// The states of a plan, as engine::describe_plan returns it, and the steps between them that fit, with places: an
/// agent in the form of a draft's (docs/guides/graph.md), whose blocks are the states `start`, the actions and `goal`.
/// An edge has the `passage` of its step.
[[nodiscard]] Json draw_plan(const Json& plan);

}  // namespace tenon::server
