#include "cli/run_report.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/printable.h"
#include "cli/stopping.h"
#include "inference/answers/answer_choices.h"
#include "json/reader.h"
#include "vm/values/render.h"

namespace tenon::cli {
namespace {

std::string shown_approval(const runtime::PendingInput& question) {
  return inference::answers::shown_approval(*question.value, question.sources);
}

std::string shown_answer_to(const runtime::PendingInput& question) {
  return shown_answer(question.type, parse_own_json(question.schema), question.value.has_value());
}

constexpr std::string_view nothing_recorded = "  nothing was recorded; start the run again\n";

/// `model unavailable: …`, and when it is tried again.
std::string describe_retry(const runtime::PendingRetry& retry) {
  std::string text = retry.outage.is_tool
                         ? fmt::format("  tool `{}` unavailable: {}\n", retry.outage.service, retry.outage.reason)
                         : fmt::format("  model unavailable: {}\n", retry.outage.reason);
  if (retry.next_at) text += fmt::format("    next attempt {}\n", shown_time(*retry.next_at));
  return text;
}

void report_waits(const runtime::Runtime& runtime, runtime::RunId run, const std::string& store,
                  const Environment& environment) {
  const std::string& name = runtime.name(run)->text;
  const runtime::Conversation* const conversation = runtime.conversation(run);
  if (conversation != nullptr && !conversation->is_in_turn()) {
    environment.write_error(
        fmt::format("tenon: run {} waits for the next prompt\n  continue with: tenon chat --run {} --store {}\n", name,
                    name, store));
    return;
  }
  const std::vector<runtime::PendingInput> questions = runtime.questions(run);
  std::string text = fmt::format("tenon: run {} waits\n", name);
  for (const runtime::PendingInput& question : questions) {
    text += fmt::format("  wait {} ({}): {}\n", question.wait, shown_answer_to(question), question.text);
    if (question.value) text += fmt::format("    {}\n", shown_approval(question));
    if (!question.callers.empty()) {
      text += fmt::format("    asked by {}, called by {}\n", question.agent, fmt::join(question.callers, ", "));
    }
    if (question.until) text += fmt::format("    until {}\n", shown_time(*question.until));
  }
  const std::vector<runtime::PendingRetry> retries = runtime.retries(run);
  for (const runtime::PendingRetry& retry : retries) text += describe_retry(retry);
  for (const std::int64_t timer : runtime.timers(run)) text += fmt::format("  timer until {}\n", shown_time(timer));
  const std::string wait = questions.size() > 1                                      ? " --wait WAIT"
                           : questions.size() == 1 && runtime.has_asked_several(run) ? " --wait " + questions[0].wait
                                                                                     : "";
  text = show_hidden(text);
  text += fmt::format("  continue with: tenon resume {} --store {}{}{}\n", name, store, wait,
                      questions.empty() ? "" : " --input ANSWER");
  environment.write_error(text);
}

/// Reports a run whose records could not be written. The store's errors name its file.
void report_detached(const runtime::Runtime& runtime, runtime::RunId run, const std::string& store,
                     const runtime::RunDetached& detached, const Environment& environment) {
  if (!detached.error) return environment.write_error(fmt::format("error: {}: {}\n", store, detached.message));
  std::string text = fmt::format("error: {}\n", detached.message);
  if (!runtime.is_stored(run)) {
    text += nothing_recorded;
  } else {
    const bool is_full = *detached.error == journal::StoreError::Kind::Full;
    text += fmt::format("  everything recorded so far is safe; {}continue with: tenon resume {} --store {}\n",
                        is_full ? "when there is space again, " : "", runtime.name(run)->text, store);
  }
  environment.write_error(text);
}

}  // namespace

std::string shown_time(std::int64_t ms) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(ms / 1000)));
}

std::string shown_answer(std::string_view type, const Json& schema, bool is_approval) {
  if (is_approval) return fmt::format("yes, no, or another {}", type);
  std::string choices = inference::answers::describe_choices(schema);
  return choices.empty() ? std::string(type) : choices;
}

int print_result(const vm::Value& value, types::TypeId type, const types::TypeTable& table,
                 const Environment& environment) {
  if (table.base(type) == types::TypeTable::unit) return exit_done;
  std::string line;
  if (value.tag() == vm::Tag::String) {
    line = value.as_text();
  } else if (const auto written = vm::to_json(value, table, line); !written) {
    return fail("the result cannot be printed: " + vm::describe(written.error()), environment);
  }
  environment.write_output(line + "\n");
  return exit_done;
}

int report_turn(const runtime::Runtime& runtime, runtime::RunId run, const Environment& environment) {
  const auto& outcome = runtime.turn_outcome(run);
  if (!outcome) return exit_done;
  const vm::LoadedProgram& program = runtime.program(run);
  if (const auto* failed = std::get_if<runtime::RunFailed>(&*outcome)) {
    environment.write_error(runtime::describe_failure(program, failed->report));
    if (failed->report.kind == types::FailureKind::ContextFull) {
      environment.write_error("  the message was left out of the conversation; a shorter one may fit\n");
    }
    return exit_failed;
  }
  if (const auto* cancelled = std::get_if<runtime::RunCancelled>(&*outcome)) {
    return fail(fmt::format("the turn was cancelled: {}", cancelled->reason), environment);
  }
  const types::TypeId type = program.program().functions[runtime.function(run)].result;
  return print_result(std::get<vm::Value>(*outcome), type, program.types(), environment);
}

int report_run(const runtime::Runtime& runtime, runtime::RunId run, const std::string& store,
               const Environment& environment) {
  const std::optional<runtime::RunEnd>& end = runtime.end(run);
  const vm::LoadedProgram& program = runtime.program(run);
  if (!end) {
    if (environment.interrupted->load()) {
      environment.write_error("\ntenon: interrupted\n");
      if (runtime.is_stored(run)) {
        environment.write_error(
            fmt::format("  continue with: tenon resume {} --store {}\n", runtime.name(run)->text, store));
      } else if (runtime.name(run) != nullptr) {
        environment.write_error(nothing_recorded);
      }
      return exit_code_of_stop(environment);
    }
    report_waits(runtime, run, store, environment);
    return exit_waits;
  }
  if (const auto* failed = std::get_if<runtime::RunFailed>(&*end)) {
    environment.write_error(runtime::describe_failure(program, failed->report));
    const journal::RunName* const name = runtime.name(run);
    const std::string_view spent = failed->report.blame;
    if (name != nullptr && failed->report.kind == types::FailureKind::BudgetSpent && spent.starts_with("budget ") &&
        failed->report.message.find("--budget") != std::string::npos) {
      environment.write_error(fmt::format(
          "  continue with a larger budget, without repeating anything: tenon resume {} --store {} --budget "
          "{}=N\n",
          name->text, store, spent.substr(7)));
    }
    return exit_failed;
  }
  if (const auto* damaged = std::get_if<runtime::RunDamaged>(&*end)) {
    environment.write_error(
        fmt::format("{}: error: internal error: the program performed an operation that compiled programs never "
                    "contain: {}\n",
                    damaged->place, damaged->message));
    return exit_failed;
  }
  if (const auto* cancelled = std::get_if<runtime::RunCancelled>(&*end)) {
    fail(fmt::format("the run was cancelled: {}", cancelled->reason), environment);
    return environment.interrupted->load() ? exit_code_of_stop(environment) : exit_failed;
  }
  if (const auto* detached = std::get_if<runtime::RunDetached>(&*end)) {
    report_detached(runtime, run, store, *detached, environment);
    return exit_failed;
  }
  const types::TypeId type = program.program().functions[runtime.function(run)].result;
  return print_result(std::get<vm::Value>(*end), type, program.types(), environment);
}

std::optional<std::string> read_answer(const runtime::PendingInput& question, const Environment& environment,
                                       const Look& look) {
  const std::string value = question.value ? fmt::format("\n  {}\n", shown_approval(question)) : " ";
  const std::string prompt = show_hidden(fmt::format("{}{}({}): ", question.text, value, shown_answer_to(question)));
  if (question.is_secret && environment.read_hidden_line) return environment.read_hidden_line(prompt, look);
  environment.write_error(prompt);
  auto line = environment.read_line(look);
  if (!line) environment.write_error("\n");  // the question's line has not ended
  return line;
}

std::optional<std::string> TerminalPrompter::ask(const runtime::PendingInput& question, std::string_view complaint) {
  if (!complaint.empty()) fail(complaint, environment_);
  return read_answer(question, environment_);
}

}  // namespace tenon::cli
