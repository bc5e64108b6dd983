#pragma once

#include <cstdint>
#include <string>

#include "effects/record.h"
#include "runtime/recording/run_journal.h"
#include "runtime/run_core.h"

namespace tenon::runtime {

/// The record of a request of the machine, written at `time`, milliseconds since 1970. The journal keeps what it names.
/// `title`: of the run.
[[nodiscard]] effects::Requested record_request(RunCore& core, RunJournal& journal, const OpenRequest& open,
                                                const std::string& title, std::int64_t time);

}  // namespace tenon::runtime
