#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/printable.h"
#include "cli/commands.h"
#include "cli/engine_report.h"
#include "cli/run_report.h"
#include "engine/listings.h"
#include "engine/store_access.h"
#include "runtime/host/stall_note.h"

namespace tenon::cli {
namespace {

std::string to_unavailable_line(const Json& detail) {
  std::string line =
      fmt::format("  {} unavailable: {}\n", detail.text_or("unavailable", ""), detail.text_or("reason", ""));
  if (detail.contains("next_at")) {
    line += fmt::format("    next attempt {}\n", shown_time(detail.get("next_at").as_integer()));
  }
  return line;
}

std::string to_question_line(const Json& detail) {
  const std::string answer = shown_answer(detail.text_or("type", ""), detail.get("schema"), detail.contains("value"));
  std::string line =
      fmt::format("  wait {} ({}): {}\n", detail.text_or("wait", ""), answer, detail.text_or("question", ""));
  if (detail.contains("value")) line += fmt::format("    {}\n", detail.get("value").dump());
  if (detail.contains("until")) line += fmt::format("    until {}\n", shown_time(detail.get("until").as_integer()));
  return line;
}

std::string to_line(const journal::RunHead& head) {
  std::string line = fmt::format("{}  {:<9}  {}  {}\n", head.run.text, journal::name_of(head.summary.state),
                                 shown_time(head.summary.updated_at), head.summary.title);
  const std::optional<engine::Waits> waits = engine::waits_of(head.summary);
  if (!waits) return line;
  for (const Json& question : waits->questions.items()) line += to_question_line(question);
  for (const Json& service : waits->services.items()) line += to_unavailable_line(service);
  for (const Json& timer : waits->timers.items())
    line += fmt::format("  timer until {}\n", shown_time(timer.as_integer()));
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
  const auto stalls = runtime::find_stalls((*store)->journals(), *heads);
  if (!command.json) {
    for (std::size_t at = 0; at < heads->size(); ++at) {
      environment.write_output(show_hidden(to_line((*heads)[at])));
      if (stalls[at]) environment.write_output(fmt::format("  no process can continue it: {}\n", *stalls[at]));
    }
    return exit_done;
  }
  Json list = Json::array();
  for (std::size_t at = 0; at < heads->size(); ++at) {
    Json shown = engine::describe_run((*heads)[at]);
    if (stalls[at]) shown.set("stalled", *stalls[at]);
    list.push_back(std::move(shown));
  }
  environment.write_output(list.dump() + "\n");
  return exit_done;
}

}  // namespace tenon::cli
