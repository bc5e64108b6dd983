#include "server/routes.h"

#include <array>
#include <vector>

#include "server/program_questions.h"

namespace tenon::server {

namespace {

// Schemas of bodies.
constexpr std::string_view chat_body =
    R"({"type":"object","properties":{"model":{"type":"string"},"messages":{"type":"array"},)"
    R"("stream":{"type":["boolean","null"]},"stream_options":{"type":["object","null"]},)"
    R"("conversation":{"type":["string","null"]}},"required":["model","messages"]})";
constexpr std::string_view response_body =
    R"({"type":"object","properties":{"model":{"type":"string"},"input":{"type":["string","array"]},)"
    R"("previous_response_id":{"type":["string","null"]},"conversation":{"type":["string","object","null"]},)"
    R"("background":{"type":["boolean","null"]},"stream":{"type":["boolean","null"]}},)"
    R"("required":["model","input"]})";
constexpr std::string_view resume_body =
    R"({"type":"object","properties":{"wait":{"type":"string"},"input":{},"budget":{"$ref":)"
    R"("#/components/schemas/Budget"}},"dependentRequired":{"wait":["input"]},"additionalProperties":false})";
constexpr std::string_view fork_body = R"({"$ref":"#/components/schemas/ForkRequest"})";
constexpr std::string_view replay_body =
    R"({"type":"object","properties":{"text":{"type":["string","null"]}},"additionalProperties":false})";

constexpr std::string_view start_body =
    R"({"type":"object","properties":{"agent":{"type":"string"},"fn":{"type":"string"},"input":{},)"
    R"("args":{"type":"object"}},"additionalProperties":false})";
constexpr std::string_view agui_body =
    R"({"type":"object","properties":{"threadId":{"type":"string"},"runId":{"type":"string"},)"
    R"("protocolVersion":{"type":"string"},"parentRunId":{"type":"string"},"state":{},)"
    R"("messages":{"type":"array"},"resume":{"type":"array","items":{"type":"object"}}},)"
    R"("required":["threadId","runId","messages"]})";
constexpr std::string_view edits_body =
    R"({"type":"object","properties":{"version":{"type":"string"},"ops":{"type":"array",)"
    R"("items":{"$ref":"#/components/schemas/Edit"}},)"
    R"("dry_run":{"type":"boolean"}},"required":["version","ops"],"additionalProperties":false})";
constexpr std::string_view draft_body =
    R"({"type":"object","properties":{"text":{"type":"string"},"ops":{"type":"array",)"
    R"("items":{"$ref":"#/components/schemas/Edit"}}},"required":["text"],"additionalProperties":false})";
constexpr std::string_view save_body =
    R"({"type":"object","properties":{"version":{"type":"string"},"text":{"type":"string"}},)"
    R"("required":["version","text"],"additionalProperties":false})";

constexpr std::string_view place_body =
    R"({"type":"object","properties":{"text":{"type":"string"},"offset":{"type":"integer","minimum":0}},)"
    R"("required":["text","offset"],"additionalProperties":false})";
constexpr std::string_view text_body =
    R"({"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false})";

// Content types, headers and statuses of many routes.
constexpr std::string_view json_content = "application/json";
constexpr std::string_view stream_content = "text/event-stream";
constexpr std::string_view either_content = "application/json text/event-stream";
constexpr std::string_view key_header = "Idempotency-Key";
constexpr std::string_view change_statuses = "202 404 409 500";
}  // namespace

std::span<const Route> Routes::of_runs() {
  static constexpr auto table = std::to_array<Route>({
      {"POST", "/v1/runs", "startRun",
       "Starts a run: of an agent with `input`, of a function with `args`, or with `input` if it takes one text",
       start_body, "", key_header, "201 404 409 500", json_content, "Started", "", false, &Api::start_run},
      {"GET", "/v1/runs", "listRuns", "The runs, oldest first", "", "state after limit:integer", "", "200 422",
       json_content, "RunList", "", false, &Api::list_runs},
      {"GET", "/v1/runs/{run}", "getRun", "A run's state, its open questions, and its end", "", "", "", "200 404",
       json_content, "Run", "", false, &Api::show_run},
      {"POST", "/v1/runs/{run}/prompt", "promptRun", "Begins a conversation's next turn",
       R"({"type":"object","properties":{"input":{}},"required":["input"],"additionalProperties":false})", "",
       key_header, change_statuses, json_content, "Accepted", "", false, &Api::prompt_run},
      {"POST", "/v1/runs/{run}/resume", "resumeRun",
       "Answers a question of the run; without an input, tries again to reach its model or tool; with a budget, "
       "continues a run whose budget is spent, as a new run",
       resume_body, "", key_header, "201 202 404 409 500", json_content, "Accepted", "", false, &Api::resume_run},
      {"POST", "/v1/runs/{run}/fork", "forkRun",
       "Starts a new run that reuses the outcomes of this one up to a record, by default the last one; with `text` in "
       "a "
       "changed program. With `dry_run`: what it would take and request",
       fork_body, "", key_header, "200 201 404 409 500", json_content, "Fork", "", false, &Api::fork_run},
      {"POST", "/v1/runs/{run}/replay", "replayRun",
       "Executes the run again from its records, with `text` in a changed program, without performing anything",
       replay_body, "", "", "200 404 500", json_content, "Replayed", "", false, nullptr, false,
       &RunInspections::replay},
      {"GET", "/v1/runs/{run}/diff", "diffRuns", "Where this run and another one part, and what differs", "", "with",
       "", "200 404 500", json_content, "RunDifference", "", false, nullptr, false, &RunInspections::compare},
      {"GET", "/v1/runs/{run}/program", "getRunProgram", "The text of the program with which the run continues", "", "",
       "", "200 404 500", json_content, "RunProgram", "", false, nullptr, false, &RunInspections::show_program},
      {"POST", "/v1/runs/{run}/cancel", "cancelRun",
       "Cancels a run; of a conversation the current turn, or with `conversation` all of it",
       R"({"type":"object","properties":{"reason":{"type":"string"},"conversation":{"type":"boolean"}},)"
       R"("additionalProperties":false})",
       "", key_header, change_statuses, json_content, "Accepted", "", false, &Api::cancel_run},
      {"GET", "/v1/runs/{run}/events", "readEvents",
       "The run's events after a number, as server-sent events, or as a JSON list with `Accept: application/json`; the "
       "list's `Link` asks for the rest. With `before`: the newest events before a number, as a list; with `from`: "
       "those from a position on, counted from "
       "0",
       "", "after:integer before:integer from:integer limit:integer", "Last-Event-ID", "200 204 404 422 500",
       either_content, "EventList", "Link Tenon-Events", false, &Api::read_events},
      {"GET", "/v1/runs/{run}/records/{record}", "getRecord",
       "The run as it was after a record: its stack, its agent's state, and what the model was sent for a generation",
       "", "", "", "200 404 500", json_content, "Moment", "", false, nullptr, false, &RunInspections::show_record},
      {"GET", "/v1/runs/{run}/reports", "listReports", "The reports that a run has written", "", "", "", "200 404",
       json_content, "Reports", "", false, &Api::list_reports},
      {"GET", "/v1/runs/{run}/reports/{report}", "readReport", "A report: Markdown, HTML or PDF", "", "", "",
       "200 404 413", "application/octet-stream", "", "", false, &Api::read_report},
  });
  return table;
}

std::span<const Route> Routes::of_programs() {
  static constexpr auto table = std::to_array<Route>({
      {"GET", "/v1/programs", "listPrograms", "Programs whose texts can be read and edited; none without `--edit`", "",
       "", "", "200", json_content, "Programs", "", false, &Api::list_programs},
      {"GET", "/v1/programs/{name}", "getProgram",
       "A program's text, its graph of blocks, and the version that an edit names", "", "", "", "200 404", json_content,
       "Program", "", false, &Api::show_program},
      {"POST", "/v1/programs/{name}/edits", "editProgram", "Edits the graph of a program's blocks: all edits or none",
       edits_body, "", key_header, "200 404 409", json_content, "Program", "", false, &Api::edit_program},
      {"POST", "/v1/programs/{name}/draft", "draftProgram",
       "Checks and draws a text that is being edited, after edits of its graph if there are any; writes nothing",
       draft_body, "", "", "200 404", json_content, "Draft", "", false, &Api::draft_program},
      {"POST", "/v1/programs/{name}/save", "saveProgram",
       "Writes a program's text, also one with errors; new runs use it if it has none", save_body, "", "",
       "200 404 409", json_content, "Saved", "", false, &Api::save_program},
      {"POST", "/v1/programs/{name}/complete", "completeProgram",
       "The names that can be written at a place of a text that is being edited", place_body, "", "", "200 404",
       json_content, "Completions", "", false, nullptr, false, nullptr, complete_program},
      {"POST", "/v1/programs/{name}/explain", "explainProgram",
       "What the name at a place of a text that is being edited means", place_body, "", "", "200 404", json_content,
       "Meaning", "", false, nullptr, false, nullptr, explain_program},
      {"POST", "/v1/programs/{name}/prompts", "showPrompts",
       "What would be sent to models at each site of a text that is being edited", text_body, "", "", "200 404",
       json_content, "SitePrompts", "", false, nullptr, false, nullptr, show_prompts},
      {"POST", "/v1/programs/{name}/plans", "showPlans",
       "The states and steps of each `pursue` of a text that is being edited, with places of a drawing", text_body, "",
       "", "200 404", json_content, "Plans", "", false, nullptr, false, nullptr, show_plans},
      {"GET", "/v1/palette", "getPalette", "The kinds of blocks with their options and parts", "", "", "", "200",
       json_content, "Palette", "", false, &Api::show_palette},
  });
  return table;
}

std::span<const Route> Routes::of_everything_else() {
  static constexpr auto table = std::to_array<Route>({
      {"GET", "/v1/agents", "listAgents",
       "Agents and functions that can be started, with JSON Schemas of arguments and value", "", "", "", "200",
       json_content, "Agents", "", false, &Api::list_agents},
      {"GET", "/v1/models", "listModels",
       "Agents and functions that can be used as a `model`, for clients of OpenAI's API", "", "", "", "200",
       json_content, "Models", "", false, &Api::list_models},
      {"GET", "/v1/models/{model}", "getModel", "One of them", "", "", "", "200 404", json_content, "Model", "", false,
       &Api::show_model},
      {"POST", "/v1/chat/completions", "completeChat",
       "Sends a message to an agent or function that takes one text, in the format of OpenAI's chat completions",
       chat_body, "", "Idempotency-Key X-Tenon-Conversation", "200 404 409 500", either_content, "ChatCompletion",
       "X-Tenon-Conversation X-Should-Retry", false, &Api::complete_chat},
      {"POST", "/v1/responses", "createResponse",
       "Sends a message to an agent or function that takes one text, in the format of OpenAI's responses",
       response_body, "", key_header, "200 404 409 500", either_content, "Response",
       "X-Tenon-Conversation X-Should-Retry", false, &Api::create_response},
      {"GET", "/v1/responses/{response}", "getResponse", "A response as it is now, or as a stream", "", "stream", "",
       "200 404", either_content, "Response", "", false, &Api::show_response},
      {"POST", "/v1/responses/{response}/cancel", "cancelResponse", "Cancels the turn of a response that has not ended",
       R"({"type":"object","additionalProperties":false})", "", key_header, "200 404 409 500", json_content, "Response",
       "", false, &Api::cancel_response},
      {"POST", "/agui/{agent}", "runAgui",
       "Sends a message to an agent or function that takes one text, in the format of AG-UI", agui_body, "", key_header,
       "200 404 409 500", stream_content, "", "X-Tenon-Conversation", false, &Api::run_agui},
      {"GET", "/v1/events", "readChanges", "Each run that changes, as the list of runs shows it", "", "", "", "200",
       stream_content, "", "", false, &Api::read_changes},
      {"GET", "/", "getStudio", "The studio's page", "", "", "", "200", "text/html", "", "", true, &Api::show_studio,
       true},
      {"GET", "/assets/{file}", "getStudioFile", "A script or style sheet of the studio's page", "", "", "", "200 404",
       "text/javascript text/css", "", "", true, &Api::show_studio, true},
      {"GET", "/openapi.json", "getOpenapi", "This document", "", "", "", "200", json_content, "Document", "", false,
       &Api::show_openapi},
      {"GET", "/healthz", "getHealth", "Whether the process responds; also while it cannot write its store", "", "", "",
       "200", json_content, "Health", "", true, &Api::show_health},
      {"GET", "/readyz", "getReadiness",
       "Whether requests that change something would be accepted: the programs are loaded, the store can be written "
       "and "
       "the server is not stopping",
       "", "", "", "200", json_content, "Readiness", "", true, &Api::show_readiness},
      {"GET", "/metrics", "getMetrics", "Counters, in the text format of Prometheus", "", "", "", "200", "text/plain",
       "", "", false, &Api::show_metrics},
  });
  return table;
}

std::span<const Route> Routes::all() {
  static const std::vector<Route> table = [] {
    const std::span<const Route> others = of_everything_else();
    const std::span<const Route> runs = of_runs();
    std::vector<Route> joined(others.begin(), others.end());
    joined.insert(joined.begin() + 1, runs.begin(), runs.end());  // after the agents
    joined.insert(joined.end(), of_programs().begin(), of_programs().end());
    return joined;
  }();
  return table;
}

}  // namespace tenon::server
