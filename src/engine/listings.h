#pragma once

#include <string_view>

#include "journal/store.h"
#include "json/json.h"

namespace tenon::engine {

/// A run as `tenon runs --json` lists it: `run`, `state`, `function`, `records`, `created_at`, `updated_at`, `wakes_at`
/// if it waits for a time, and the questions and services that it waits for, `waits` and `unavailable`.
[[nodiscard]] Json describe_run(const journal::RunHead& head);

/// "visitor", "host" or "gateway".
[[nodiscard]] std::string_view name_of(journal::OwnerRole role);
/// An owner as `tenon store owners --json` lists it: `owner`, its number; `role`, `label`, `pool`, `runs`, `lease_ms`,
/// `joined_at`.
[[nodiscard]] Json describe_owner(const journal::Owner& owner);

}  // namespace tenon::engine
