#pragma once

#include <optional>
#include <string_view>

#include "journal/ownership.h"
#include "journal/store.h"
#include "json/json.h"

namespace tenon::engine {

/// What a run waits for, by the kind of the entry (runtime::describe).
struct Waits {
  Json questions = Json::array();
  Json services = Json::array();
  Json timers = Json::array();  ///< times, milliseconds since 1970, earliest first
};
/// What the run waits for; nothing of a run that does not wait.
[[nodiscard]] std::optional<Waits> waits_of(const journal::RunSummary& summary);

/// A run as `tenon runs --json` lists it: `run`, `state`, `function`, `records`, `created_at`, `updated_at`, `wakes_at`
/// if it waits for a time, and the questions, services and times that it waits for, `waits`, `unavailable` and
/// `timers`.
[[nodiscard]] Json describe_run(const journal::RunHead& head);

/// "visitor", "host" or "gateway".
[[nodiscard]] std::string_view name_of(journal::OwnerRole role);
/// An owner as `tenon store owners --json` lists it: `owner`, its number; `role`, `label`, `pool`, `runs`, `lease_ms`,
/// `joined_at`.
[[nodiscard]] Json describe_owner(const journal::Owner& owner);

}  // namespace tenon::engine
