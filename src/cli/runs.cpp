#include <fmt/chrono.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/engine_report.h"
#include "engine/store_access.h"

namespace tenon::cli {
namespace {

using nlohmann::ordered_json;

ordered_json to_json(const journal::RunHead& head) {
  ordered_json json = {{"run", head.run.text},           {"state", journal::name_of(head.summary.state)},
                       {"function", head.summary.title}, {"records", head.records},
                       {"created_at", head.created_at},  {"updated_at", head.summary.updated_at}};
  if (head.summary.wake_at) json["wakes_at"] = *head.summary.wake_at;
  const ordered_json details = ordered_json::parse(head.summary.detail, nullptr, false);
  if (!details.is_array()) return json;
  json["waits"] = ordered_json::array();
  for (const auto& detail : details) {
    json[detail.contains("unavailable") ? "unavailable" : "waits"].push_back(detail);
  }
  return json;
}

std::string to_unavailable_line(const ordered_json& detail) {
  std::string line = fmt::format("  {} unavailable: {}\n", detail.value("unavailable", ""), detail.value("reason", ""));
  if (detail.contains("next_at")) {
    const std::time_t next = detail.value("next_at", std::int64_t{0}) / 1000;
    line += fmt::format("    next attempt {:%Y-%m-%d %H:%M:%S}Z\n", fmt::gmtime(next));
  }
  return line;
}

std::string to_line(const journal::RunHead& head) {
  const std::time_t updated = head.summary.updated_at / 1000;
  std::string line = fmt::format("{}  {:<9}  {:%Y-%m-%d %H:%M:%S}Z  {}\n", head.run.text,
                                 journal::name_of(head.summary.state), fmt::gmtime(updated), head.summary.title);
  const auto details = ordered_json::parse(head.summary.detail, nullptr, false);
  if (!details.is_array()) return line;
  for (const auto& detail : details) {
    line += detail.contains("unavailable") ? to_unavailable_line(detail)
                                           : fmt::format("  wait {} ({}): {}\n", detail.value("wait", ""),
                                                         detail.value("type", ""), detail.value("question", ""));
  }
  return line;
}

}  // namespace

int runs(const RunsCommand& command, const Environment& environment) {
  const auto store = engine::open_store(command.store, engine::StoreUse::Read, make_system(environment));
  if (!store) return report(store.error(), environment);
  journal::RunFilter filter;
  if (command.waiting) filter.state = journal::RunState::Waiting;
  const auto heads = (*store)->runs().list(filter);
  if (!heads) return fail(heads.error().message, environment);
  if (!command.json) {
    for (const journal::RunHead& head : *heads) environment.write_output(to_line(head));
    return exit_done;
  }
  ordered_json list = ordered_json::array();
  for (const journal::RunHead& head : *heads) list.push_back(to_json(head));
  environment.write_output(list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  return exit_done;
}

}  // namespace tenon::cli
