#include "runtime/waits/waits.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "effects/wait_name.h"
#include "inference/answers/schema_writer.h"
#include "json/writer.h"
#include "runtime/label_sources.h"
#include "runtime/recording/agent_records.h"
#include "runtime/waits/resolution.h"
#include "types/table/type_parts.h"
#include "vm/values/render.h"

namespace tenon::runtime {

std::string describe(const std::vector<PendingInput>& questions, const std::vector<PendingRetry>& retries,
                     const std::vector<std::int64_t>& timers) {
  std::string text;
  JsonWriter out(text);
  out.begin_list();
  for (const PendingInput& question : questions) {
    out.begin_object().name("wait").text(question.wait).name("question").text(question.text);
    out.name("type").text(question.type).name("schema").raw(question.schema);
    if (question.value) {
      out.name("value").raw(*question.value).name("sources").begin_list();
      for (const std::string& source : question.sources) out.text(source);
      out.end_list();
    }
    if (question.until) out.name("until").integer(*question.until);
    if (!question.agent.empty()) out.name("agent").text(question.agent);
    if (!question.callers.empty()) {
      out.name("callers").begin_list();
      for (const std::string& caller : question.callers) out.text(caller);
      out.end_list();
    }
    out.end_object();
  }
  for (const PendingRetry& retry : retries) {
    out.begin_object().name("unavailable").text(retry.outage.is_tool ? "tool" : "model");
    out.name("name").text(retry.outage.service).name("reason").text(retry.outage.reason);
    out.name("attempts").integer(retry.outage.attempts).name("since").integer(retry.outage.since);
    if (retry.next_at) out.name("next_at").integer(*retry.next_at);
    out.name("effect").text(retry.effect).end_object();
  }
  for (const std::int64_t timer : timers) out.begin_object().name("timer").integer(timer).end_object();
  out.end_list();
  return text;
}

std::string name_of_question(const OpenRequest& open) {
  return effects::wait_name(open.request.key, open.question ? open.asked - 1 : 0);
}

PendingInput question_of(const Run& run, const OpenRequest& open) {
  const bytecode::Program& program = run.core->image()->program();
  PendingInput question;
  question.wait = name_of_question(open);
  question.agent = effects::scope_of(open.request, program).agent;
  question.callers = callers_of(run.core->machine(), open.request, run.title);
  question.text = open.question ? *open.question : std::string(vm::asked_by(open.request, program));
  if (open.is_in_doubt) {
    question.type = resolution_type(program, open.request.subject);
    question.schema = resolution_schema(program, open.request.subject);
    question.is_secret = types::holds_secret(program.types, program.externs[open.request.subject].result);
    return question;
  }
  const types::TypeId type = open.question ? types::TypeTable::string : program.externs[open.request.subject].result;
  question.type = program.types.describe(type);
  question.schema = inference::answers::make_question_schema(program.types, type);
  if (!open.question) {
    question.until = open.wake_at;
    question.is_secret = types::holds_secret(program.types, type);
  }
  if (!open.question && vm::asks_approval(open.request, program)) {
    const vm::Value& value = open.request.arguments[0];
    question.type = program.types.describe(program.types.get(type).arguments[0]);
    question.value = std::string();
    if (!vm::to_json(value, program.types, *question.value)) question.value = "null";
    question.sources = describe_sources(run.core->machine().labels(), open.request.label);
  }
  return question;
}

std::vector<PendingInput> questions_of(const Run& run) {
  std::vector<PendingInput> questions;
  if (run.end || !run.core) return questions;
  std::map<vm::RequestId, const OpenRequest*> asked;
  for (const auto& [key, open] : run.core->open()) {
    // A question that the runtime has not recorded, because it drains, is asked by the process that resumes the run.
    if (asks_person(open) && open.is_recorded) asked.emplace(open.request.id, &open);
  }
  for (const auto& [request, open] : asked) questions.push_back(question_of(run, *open));
  return questions;
}

std::vector<PendingRetry> retries_of(const Run& run) {
  std::vector<PendingRetry> retries;
  if (run.end || !run.core) return retries;
  for (const auto& [key, open] : run.core->open()) {
    if (open.outage && open.outage->is_waiting) retries.push_back({key, *open.outage, open.wake_at});
  }
  return retries;
}

std::vector<std::int64_t> timers_of(const Run& run) {
  std::set<std::int64_t> times;
  if (run.end || !run.core) return {};
  for (const auto& [key, open] : run.core->open()) {
    const bool is_own = is_waiting(open) && !asks_person(open) && !open.outage;
    if (!is_own || !open.wake_at || !open.is_recorded) continue;
    if (times.size() == listed_timers_max && *open.wake_at > *times.rbegin()) continue;
    times.insert(*open.wake_at);
    if (times.size() > listed_timers_max) times.erase(std::prev(times.end()));
  }
  return {times.begin(), times.end()};
}

std::optional<std::int64_t> wake_time(const Run& run) {
  std::optional<std::int64_t> soonest;
  if (run.end || !run.core) return soonest;
  for (const auto& [key, open] : run.core->open()) {
    if (open.wake_at && (!soonest || *open.wake_at < *soonest)) soonest = open.wake_at;
  }
  return soonest;
}

std::int64_t time_after(std::int64_t now_ms, std::int64_t milliseconds) {
  return now_ms + std::clamp<std::int64_t>(milliseconds, 0, wait_ms_max);
}

vm::Outcome unmade_call(const OpenRequest& open) {
  const std::string& name = open.described.subject;
  return {vm::EffectFailure{types::FailureKind::Cancelled,
                            fmt::format("`{}` is not called: its branch was cancelled", name), name},
          {}};
}

std::optional<std::int64_t> call_deadline(const OpenRequest& open, const bytecode::Program& program,
                                          std::int64_t now_ms) {
  const auto& within = program.externs[open.request.subject].call_options.within_ms;
  if (!within) return std::nullopt;
  return time_after(now_ms, static_cast<std::int64_t>(std::min<std::uint64_t>(*within, INT64_MAX)));
}

}  // namespace tenon::runtime
