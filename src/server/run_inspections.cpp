#include "server/run_inspections.h"

#include <fmt/format.h>

#include <algorithm>

#include "algebra/compare.h"
#include "algebra/extract.h"
#include "base/file_names.h"
#include "base/parse_number.h"
#include "engine/moment.h"
#include "engine/replay.h"
#include "engine/stored_run.h"
#include "json/reader.h"
#include "runtime/runtime.h"
#include "server/api.h"
#include "server/moment_json.h"
#include "server/program_replies.h"
#include "server/run_programs.h"
#include "vm/values/render.h"

namespace tenon::server {
namespace {

/// Differences of two runs in one answer; further ones are only counted.
constexpr std::size_t differences_max = 1'000;
/// The size of their values.
constexpr std::size_t differences_bytes_max = std::size_t{4} << 20U;

HttpResponse refuse(const engine::EngineError& error) {
  using Kind = engine::EngineError::Kind;
  const std::string message = engine::describe(error);
  switch (error.kind) {
    case Kind::NotFound:
      return make_error(404, "not_found", message);
    case Kind::Usage:
    case Kind::WrongInput:
    case Kind::Program:
      return make_error(422, "wrong_input", message, error.setting);
    case Kind::Conflict:
      return make_error(409, "conflict", message);
    case Kind::InUse:
      return make_error(503, "unavailable", message);
    case Kind::Failed:
      break;
  }
  return make_error(500, "damaged", message);
}

Json describe(const algebra::EstimatedRequest& request) {
  Json json = Json::object({{"kind", effects::effect_name(request.kind)},
                            {"name", request.subject},
                            {"place", public_file_name(request.place)}});
  if (request.outcome) json["record"] = *request.outcome;
  return json;
}

Json describe(const algebra::ForkEstimate& estimate) {
  Json requests = Json::array();
  for (const algebra::EstimatedRequest& request : estimate.requests) requests.push_back(describe(request));
  Json json = Json::object({{"taken", estimate.taken},
                            {"model_requests", estimate.model_requests},
                            {"tool_calls", estimate.tool_calls},
                            {"questions", estimate.questions},
                            {"requests", std::move(requests)},
                            {"complete", estimate.is_complete},
                            {"turns_left", estimate.turns_left}});
  if (!estimate.failure.empty()) json["failure"] = estimate.failure;
  if (!estimate.parting) return json;
  json["parts"] = describe(estimate.parting->request);
  if (const auto& recorded = estimate.parting->recorded) {
    json["parts"]["recorded"] = Json::object({{"kind", effects::effect_name(recorded->kind)},
                                              {"name", recorded->subject},
                                              {"place", public_file_name(recorded->place)},
                                              {"record", recorded->record}});
  }
  return json;
}

/// How the replay of a run has ended, and what differs.
Json describe(const engine::Replayed& replayed) {
  const runtime::RecoveredRun& run = replayed.run;
  const bool has_core_end = run.core && run.core->end();
  Json json = Json::object({{"same", replayed.difference.empty()}, {"ended", has_core_end}});
  if (!replayed.difference.empty()) json["difference"] = replayed.difference;
  if (!has_core_end) return json;
  const vm::LoadedProgram& program = *run.image->loaded();
  if (const auto* const finished = std::get_if<vm::Finished>(&*run.core->end())) {
    std::string value;
    if (vm::to_json(finished->value, program.types(), value)) json["value"] = parse_own_json(value);
  } else if (const auto* const failed = std::get_if<vm::Failed>(&*run.core->end())) {
    json["failure"] = runtime::describe_failure(program, failed->report);
  }
  return json;
}

/// A run of which the difference is shown.
struct Side {
  journal::RunName run;
  algebra::Interaction interaction;

  [[nodiscard]] std::optional<std::uint64_t> record_of(std::optional<std::size_t> call) const {
    const std::vector<std::uint64_t>& calls = interaction.records.calls;
    if (!call || *call >= calls.size() || calls[*call] == 0) return std::nullopt;
    return calls[*call];
  }
};

Json describe(const algebra::Difference& difference, const Side& a, const Side& b) {
  using algebra::DifferenceKind;
  Json json = Json::object({{"what", algebra::difference_name(difference.kind)}, {"turn", difference.cycle + 1}});
  if (!difference.tool.empty()) json["tool"] = difference.tool;
  if (!difference.at.empty()) json["at"] = difference.at;
  if (difference.kind == DifferenceKind::Argument || difference.kind == DifferenceKind::Context) {
    json["index"] = difference.index + 1;
  }
  const auto side = [](const std::string& value, std::optional<std::size_t> call, const Side& of) {
    Json shown = Json::object();
    if (!value.empty()) shown["value"] = parse_own_json(value);
    if (call) shown["call"] = *call + 1;
    if (const auto record = of.record_of(call)) shown["record"] = *record;
    return shown;
  };
  json["a"] = side(difference.a, difference.call_a, a);
  json["b"] = side(difference.b, difference.call_b, b);
  return json;
}

Json compare_sides(const Side& a, const Side& b) {
  const std::vector<algebra::Difference> found = algebra::compare(a.interaction.artifacts, b.interaction.artifacts);
  Json differences = Json::array();
  std::size_t bytes = 0;
  for (const algebra::Difference& difference : found) {
    bytes += difference.a.size() + difference.b.size();
    if (differences.items().size() == differences_max || bytes > differences_bytes_max) break;
    differences.push_back(describe(difference, a, b));
  }
  const std::size_t left_out = found.size() - differences.items().size();
  return Json::object({{"a", a.run.text},
                       {"b", b.run.text},
                       {"same", found.empty()},
                       {"differences", std::move(differences)},
                       {"left_out", left_out}});
}

HttpResponse answer_with(const Json& json) {
  return make_json(json.dump());
}

}  // namespace

/// The run, if its program may be shown; otherwise a refusal was answered.
std::optional<journal::RunHead> RunInspections::find_shown_run(const ApiCall& call) const {
  if (parts_.inspector != nullptr) return server::find_run(parts_.store, call);
  call.answer(whole(make_editing_is_off()));
  return std::nullopt;
}

/// The run, if it can be replayed; otherwise a refusal was answered.
std::optional<journal::RunHead> RunInspections::find_run(const ApiCall& call) const {
  auto head = find_shown_run(call);
  if (!head) return std::nullopt;
  if (head->records > inspected_records_max) {
    call.answer(whole(make_error(
        422, "too_long",
        fmt::format("the run has {} records; runs of at most {} are replayed", head->records, inspected_records_max))));
    return std::nullopt;
  }
  return head;
}

void RunInspections::show_record(const ApiCall& call) {
  const auto run = find_run(call);
  if (!run) return;
  const auto record = parse_number<std::uint64_t>(call.names[1]);
  if (!record) {
    return call.answer(whole(make_error(404, "not_found", "a record is named by its number, from 1")));
  }
  parts_.inspector->begin(
      [run = run->run, record = *record](journal::Store& store) -> std::optional<HttpResponse> {
        const auto moment = engine::find_moment(store, run, record);
        return moment ? answer_with(describe_moment(*moment)) : refuse(moment.error());
      },
      call.answer);
}

void RunInspections::show_program(const ApiCall& call) {
  const auto run = find_shown_run(call);
  if (!run) return;
  const auto program = programs_.find(parts_.store, run->run);
  if (program == nullptr) {
    return call.answer(whole(make_error(500, "damaged", "the run's program cannot be read")));
  }
  const bytecode::SourceText& source = program->program().sources.front();
  Json json = Json::object({{"file", public_file_name(source.path)}, {"text", source.text}});
  if (const ProgramFiles::File* const file = find_file(*program)) json["program"] = file->name;
  call.answer(whole(answer_with(json)));
}

/// The served file of a run's program; null if there is none.
const ProgramFiles::File* RunInspections::find_file(const vm::LoadedProgram& program) const {
  const std::string_view name = public_file_name(program.program().sources.front().path);
  const auto found = std::ranges::find_if(
      parts_.programs->files, [&](const ProgramFiles::File& file) { return public_file_name(file.path) == name; });
  return found == parts_.programs->files.end() ? nullptr : &*found;
}

std::optional<RunInspections::Changed> RunInspections::compile(const ApiCall& call, const journal::RunName& run,
                                                               const std::optional<std::string>& text) {
  if (!text) return Changed();
  const auto refused = [&](const std::string& message) {
    call.answer(whole(make_error(422, "wrong_input", message, "text")));
    return std::nullopt;
  };
  const auto own = programs_.find(parts_.store, run);
  if (own == nullptr) return refused("the run's program cannot be read, so it cannot be changed");
  const ProgramFiles::File* const file = find_file(*own);
  if (file == nullptr) {
    return refused(fmt::format("this server has no program `{}`, whose imports the text needs; start it with that file",
                               public_file_name(own->program().sources.front().path)));
  }
  const engine::System& system = parts_.hosting.system();
  Changed changed;
  changed.problems = diagnose_program(*parts_.programs, file->path, *text);
  auto compiled =
      engine::compile({.path = file->path, .text = text, .names = engine::ProgramSource::Names::Public}, system);
  changed.has_errors = !compiled.has_value();
  if (changed.has_errors) return changed;
  if (const auto problem = parts_.hosting.programs().find_extern_problem(*compiled->loaded, system)) {
    return refused(without_folder(engine::describe(*problem), file->path));
  }
  changed.program = std::move(compiled->loaded);
  return changed;
}

void RunInspections::fork(const ApiCall& call, ForkRequest request,
                          const std::function<void(engine::ForkChoice)>& start) {
  const auto run = find_run(call);
  if (!run) return;
  auto changed = compile(call, run->run, request.text);
  if (!changed) return;
  if (changed->has_errors) {
    const Json problems = Json::object({{"problems", std::move(changed->problems)}});
    if (request.is_dry_run) return call.answer(whole(answer_with(problems)));
    return call.answer(whole(refuse_edit(422, "program_has_errors", "the text has errors: `problems`", problems)));
  }
  request.choice.program = std::move(changed->program);
  // What the run does meanwhile is part of neither the estimate nor the fork.
  if (!request.choice.at) request.choice.at = run->records;
  parts_.inspector->begin(
      [choice = std::move(request.choice), problems = std::move(changed->problems), start,
       is_dry_run = request.is_dry_run,
       &system = parts_.hosting.system()](journal::Store& store) mutable -> std::optional<HttpResponse> {
        const auto estimate = engine::estimate_fork(store, choice, system);
        if (!estimate) return refuse(estimate.error());
        if (!is_dry_run) {
          start(std::move(choice));
          return std::nullopt;
        }
        Json json = describe(*estimate);
        json["problems"] = problems;
        return answer_with(json);
      },
      call.answer);
}

void RunInspections::replay(const ApiCall& call) {
  const auto run = find_run(call);
  if (!run) return;
  const auto body = read_body(call.request, call.answer, {"text"});
  if (!body) return;
  bool is_wrong = false;
  const auto text = find_text(*body, "text", call.answer, is_wrong);
  if (is_wrong) return;
  auto changed = compile(call, run->run, text);
  if (!changed) return;
  if (changed->has_errors) {
    return call.answer(whole(refuse_edit(422, "program_has_errors", "the text has errors: `problems`",
                                         Json::object({{"problems", std::move(changed->problems)}}))));
  }
  parts_.inspector->begin(
      [run = run->run, program = std::move(changed->program),
       &system = parts_.hosting.system()](journal::Store& store) -> std::optional<HttpResponse> {
        if (program != nullptr) {
          // The replay has no bound of its own for a loop that does not end.
          const auto estimate = engine::estimate_fork(store, {.from = run, .program = program}, system);
          if (!estimate) return refuse(estimate.error());
        }
        const auto replayed = engine::replay(store, run, program);
        if (replayed) return answer_with(describe(*replayed));
        // What the journal and the program do not have in common ends the replay.
        if (replayed.error().kind != engine::EngineError::Kind::Failed) return refuse(replayed.error());
        return answer_with(Json::object({{"same", false}, {"ended", false}, {"difference", replayed.error().message}}));
      },
      call.answer);
}

void RunInspections::compare(const ApiCall& call) {
  const auto run = find_run(call);
  if (!run) return;
  const auto with = call.target.query.find("with");
  if (with == call.target.query.end()) {
    return call.answer(whole(make_error(422, "wrong_input", "query parameter `with`: expected the name of a run")));
  }
  const std::vector<std::string> names{with->second};
  const auto other = find_run({call.request, call.target, names, call.answer});
  if (!other) return;
  parts_.inspector->begin(
      [run = run->run, other = other->run](journal::Store& store) -> std::optional<HttpResponse> {
        auto a = algebra::extract(store, run, engine::images_without_externs());
        if (!a) return make_error(422, "cannot_compare", a.error().message);
        auto b = algebra::extract(store, other, engine::images_without_externs());
        if (!b) return make_error(422, "cannot_compare", b.error().message);
        return answer_with(compare_sides({run, std::move(*a)}, {other, std::move(*b)}));
      },
      call.answer);
}

}  // namespace tenon::server
