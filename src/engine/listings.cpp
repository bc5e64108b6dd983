#include "engine/listings.h"

#include "base/ensure.h"
#include "json/reader.h"

namespace tenon::engine {

Json describe_run(const journal::RunHead& head) {
  Json json = Json::object({{"run", head.run.text},
                            {"state", journal::name_of(head.summary.state)},
                            {"function", head.summary.title},
                            {"records", head.records},
                            {"created_at", head.created_at},
                            {"updated_at", head.summary.updated_at}});
  if (head.summary.wake_at) json["wakes_at"] = *head.summary.wake_at;
  const Json details = parse_own_json(head.summary.detail);
  if (!details.is_array()) return json;
  json["waits"] = Json::array();
  for (const Json& detail : details.items()) {
    json[detail.contains("unavailable") ? "unavailable" : "waits"].push_back(detail);
  }
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
