#include "engine/listings.h"

#include <utility>

#include "base/ensure.h"
#include "json/reader.h"

namespace tenon::engine {

std::optional<Waits> waits_of(const journal::RunSummary& summary) {
  const Json details = parse_own_json(summary.detail);
  if (!details.is_array()) return std::nullopt;
  Waits waits;
  bool is_timer = summary.wake_at.has_value() && summary.state == journal::RunState::Waiting;
  for (const Json& detail : details.items()) {
    if (const Json* const timer = detail.find("timer")) {
      waits.timers.push_back(*timer);
      is_timer = false;
      continue;
    }
    const bool is_service = detail.contains("unavailable");
    const Json& end = detail.get(is_service ? "next_at" : "until");
    if (is_timer && end.is_integer() && end.as_integer() == *summary.wake_at) is_timer = false;
    (is_service ? waits.services : waits.questions).push_back(detail);
  }
  if (is_timer) waits.timers.push_back(*summary.wake_at);  // the only one
  return waits;
}

Json describe_run(const journal::RunHead& head) {
  Json json = Json::object({{"run", head.run.text},
                            {"state", journal::name_of(head.summary.state)},
                            {"function", head.summary.title},
                            {"records", head.records},
                            {"created_at", head.created_at},
                            {"updated_at", head.summary.updated_at}});
  if (head.summary.wake_at) json["wakes_at"] = *head.summary.wake_at;
  std::optional<Waits> waits = waits_of(head.summary);
  if (!waits) return json;
  json["waits"] = std::move(waits->questions);
  if (waits->services.size() > 0) json["unavailable"] = std::move(waits->services);
  if (waits->timers.size() > 0) json["timers"] = std::move(waits->timers);
  return json;
}

std::string_view name_of(journal::OwnerRole role) {
  switch (role) {
    case journal::OwnerRole::Visitor:
      return "visitor";
    case journal::OwnerRole::Host:
      return "host";
    case journal::OwnerRole::Gateway:
      return "gateway";
  }
  ENSURE(false);
}

Json describe_owner(const journal::Owner& owner) {
  return Json::object({{"owner", owner.id.number},
                       {"role", name_of(owner.role)},
                       {"label", owner.label},
                       {"pool", owner.pool},
                       {"runs", owner.runs},
                       {"lease_ms", owner.lease_ms},
                       {"joined_at", owner.joined_at}});
}

}  // namespace tenon::engine
