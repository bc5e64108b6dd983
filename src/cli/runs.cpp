#include <fmt/chrono.h>
#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/engine_report.h"
#include "cli/run_report.h"
#include "engine/listings.h"
#include "engine/store_access.h"
#include "json/reader.h"

namespace tenon::cli {
namespace {

std::string to_unavailable_line(const Json& detail) {
  std::string line =
      fmt::format("  {} unavailable: {}\n", detail.text_or("unavailable", ""), detail.text_or("reason", ""));
  if (detail.contains("next_at")) {
    const auto next = static_cast<std::time_t>(detail.count_or("next_at", 0) / 1000);
    line += fmt::format("    next attempt {:%Y-%m-%d %H:%M:%S}Z\n", fmt::gmtime(next));
  }
  return line;
}

std::string to_line(const journal::RunHead& head) {
  const std::time_t updated = head.summary.updated_at / 1000;
  std::string line = fmt::format("{}  {:<9}  {:%Y-%m-%d %H:%M:%S}Z  {}\n", head.run.text,
                                 journal::name_of(head.summary.state), fmt::gmtime(updated), head.summary.title);
  const Json details = parse_own_json(head.summary.detail);
  if (!details.is_array()) return line;
  for (const Json& detail : details.items()) {
    line += detail.contains("unavailable") ? to_unavailable_line(detail)
                                           : fmt::format("  wait {} ({}): {}\n", detail.text_or("wait", ""),
                                                         shown_answer(detail.text_or("type", ""), detail.get("schema")),
                                                         detail.text_or("question", ""));
  }
  return line;
}

}  // namespace

int runs(const RunsCommand& command, const Environment& environment) {
  const auto store = engine::open_store(command.store, engine::StoreUse::Read, environment.system);
  if (!store) return report(store.error(), environment);
  journal::RunFilter filter;
  if (command.waiting) filter.state = journal::RunState::Waiting;
  const auto heads = (*store)->runs().list(filter);
  if (!heads) return fail(heads.error().message, environment);
  for (const journal::RunHead& head : *heads) {
    if (!head.is_damaged) continue;
    environment.system.notify(engine::NoticeKind::Warning,
                              fmt::format("the summary of run {} is damaged, and what is shown of it may be wrong; "
                                          "`tenon store repair` derives it from the records",
                                          head.run.text));
  }
  if (!command.json) {
    for (const journal::RunHead& head : *heads) environment.write_output(to_line(head));
    return exit_done;
  }
  Json list = Json::array();
  for (const journal::RunHead& head : *heads) list.push_back(engine::describe_run(head));
  environment.write_output(list.dump() + "\n");
  return exit_done;
}

}  // namespace tenon::cli
