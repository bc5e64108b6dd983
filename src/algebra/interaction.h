#pragma once

#include "algebra/collector.h"

namespace tenon::algebra {

/// What the calls of one cycle come to. `cycle`: its input and result; its control facts are left as they are.
[[nodiscard]] Interaction make_interaction(const Collector& collector, const CallSites& sites, Cycle cycle);

/// The result of a run whose machine has come to `end`; `Pending` when it waits.
[[nodiscard]] CallResult result_of(const std::optional<vm::Step>& end, types::TypeId type,
                                   const types::TypeTable& types);

/// The members of a call's or a run's result as JSON, without braces: `"value":…`, `"failure":{…}`,
/// `"discarded":true`, `"pending":true`.
[[nodiscard]] std::string write_result(const CallResult& result);

}  // namespace tenon::algebra
