#include "library/host_outcome.h"

#include <algorithm>
#include <utility>

#include "engine/event_reader.h"
#include "json/reader.h"
#include "server/shown_values.h"

namespace tenon::library {
namespace {

using engine::EngineError;
using engine::RunResult;
using protocol::EventKind;

/// The end of a turn is among the last records; if not, more of them are read.
constexpr std::uint64_t records_first = 16;
constexpr std::size_t ends_bytes_max = std::size_t{1} << 20U;
/// Of a value.
constexpr std::size_t value_bytes_max = std::size_t{1} << 30U;

bool is_end(const protocol::Event& event) {
  const bool ends =
      event.kind == EventKind::TurnEnd || event.kind == EventKind::TurnFailed || event.kind == EventKind::TurnCancelled;
  return ends && parse_own_json(event.json).count_or("depth", 0) == 0;
}

/// The newest end of a turn after this record.
Result<std::shared_ptr<const protocol::Event>, EngineError> find_end(HostState& host, journal::Store& store,
                                                                     const journal::RunHead& head,
                                                                     std::uint64_t after) {
  engine::EventReader reader(host.hub(), store, host.programs().program_at(store), head, after);
  std::shared_ptr<const protocol::Event> found;
  while (true) {
    const auto events = reader.take(ends_bytes_max);
    if (reader.problem()) return failure(EngineError{EngineError::Kind::Failed, *reader.problem()});
    if (events.empty()) return found;
    for (const auto& read : events) {
      if (read.event->number > 0 && read.event->number <= head.records && is_end(*read.event)) found = read.event;
    }
  }
}

Result<RunResult, EngineError> result_of(HostState& host, journal::Store& store, const journal::RunName& run,
                                         const protocol::Event& event) {
  const Json json = parse_own_json(event.json);
  if (event.kind == EventKind::TurnCancelled) {
    return RunResult{.how = RunResult::How::Cancelled, .message = json.text_or("reason", "")};
  }
  if (event.kind == EventKind::TurnFailed) {
    const std::string place = json.text_or("place", "");
    return RunResult{.how = RunResult::How::Failed,
                     .message = (place.empty() ? "" : place + ": error: ") + json.text_or("message", ""),
                     .kind = json.text_or("kind", ""),
                     .blame = json.text_or("blame", "")};
  }
  const server::ShownValues values(store, run, host.programs().find(store, run), value_bytes_max);
  const auto value = values.turn_value(json);
  if (!value) return failure(EngineError{EngineError::Kind::Failed, value.error()});
  return RunResult{.how = RunResult::How::Returned, .value = value->dump()};
}

}  // namespace

Result<std::optional<RunResult>, EngineError> read_outcome(HostState& host, journal::Store& store,
                                                           const journal::RunName& run) {
  const auto head = store.head(run);
  if (!head) return failure(engine::to_error(head.error()));
  if (!has_ended(head->summary.state) && head->summary.state != journal::RunState::Idle) return std::nullopt;
  for (std::uint64_t count = std::min(records_first, head->records);;) {
    const auto event = find_end(host, store, *head, head->records - count);
    if (!event) return failure(event.error());
    if (*event != nullptr) {
      auto result = result_of(host, store, run, **event);
      if (!result) return failure(std::move(result.error()));
      return std::move(*result);
    }
    if (count == head->records) return std::nullopt;  // no turn has ended
    count = std::min(count * 8, head->records);
  }
}

}  // namespace tenon::library
