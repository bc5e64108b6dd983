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
constexpr std::string_view fork_body =
    R"({"type":"object","properties":{"at":{"type":"integer","minimum":0},)"
    R"("budget":{"$ref":"#/components/schemas/Budget"}},"additionalProperties":false})";

constexpr std::string_view start_body =
    R"({"type":"object","properties":{"agent":{"type":"string"},"fn":{"type":"string"},"input":{},)"
    R"("args":{"type":"object"}},"additionalProperties":false})";
constexpr std::string_view agui_body =
    R"({"type":"object","properties":{"threadId":{"type":"string"},"runId":{"type":"string"},)"
    R"("protocolVersion":{"type":"string"},"parentRunId":{"type":"string"},"state":{},)"
    R"("messages":{"type":"array"},"resume":{"type":"array","items":{"type":"object"}}},)"
    R"("required":["threadId","runId","messages"]})";
constexpr std::string_view edits_body =
    R"({"type":"object","properties":{"version":{"type":"string"},"ops":{"type":"array","items":{"type":"object"}},)"
    R"("dry_run":{"type":"boolean"}},"required":["version","ops"],"additionalProperties":false})";
constexpr std::string_view draft_body =
    R"({"type":"object","properties":{"text":{"type":"string"},"ops":{"type":"array","items":{"type":"object"}}},)"
    R"("required":["text"],"additionalProperties":false})";
constexpr std::string_view place_body =
    R"({"type":"object","properties":{"text":{"type":"string"},"offset":{"type":"integer","minimum":0}},)"
    R"("required":["text","offset"],"additionalProperties":false})";
constexpr std::string_view text_body =
    R"({"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false})";
constexpr std::string_view save_body =
    R"({"type":"object","properties":{"version":{"type":"string"},"text":{"type":"string"}},)"
    R"("required":["version","text"],"additionalProperties":false})";
}  // namespace

namespace {

constexpr std::string_view json = "application/json";
constexpr std::string_view key = "Idempotency-Key";

}  // namespace

std::span<const Route> Routes::of_programs() {
  static constexpr auto table = std::to_array<Route>({
      {"GET", "/v1/programs", "listPrograms", "Programs whose texts can be read and edited; none without `--edit`", "",
       "", "", "200", json, "Programs", "", false, &Api::list_programs},
      {"GET", "/v1/programs/{name}", "getProgram",
       "A program's text, its graph of blocks, and the version that an edit names", "", "", "", "200 404", json,
       "Program", "", false, &Api::show_program},
      {"POST", "/v1/programs/{name}/edits", "editProgram", "Edits the graph of a program's blocks: all edits or none",
       edits_body, "", key, "200 404 409", json, "Program", "", false, &Api::edit_program},
      {"POST", "/v1/programs/{name}/draft", "draftProgram",
       "Checks and draws a text that is being edited, after edits of its graph if there are any; writes nothing",
       draft_body, "", "", "200 404", json, "Draft", "", false, &Api::draft_program},
      {"POST", "/v1/programs/{name}/save", "saveProgram",
       "Writes a program's text, also one with errors; new runs use it if it has none", save_body, "", "",
       "200 404 409", json, "Saved", "", false, &Api::save_program},
      {"POST", "/v1/programs/{name}/complete", "completeProgram",
       "The names that can be written at a place of a text that is being edited", place_body, "", "", "200 404", json,
       "Completions", "", false, nullptr, false, complete_program},
      {"POST", "/v1/programs/{name}/explain", "explainProgram",
       "What the name at a place of a text that is being edited means", place_body, "", "", "200 404", json, "Meaning",
       "", false, nullptr, false, explain_program},
      {"POST", "/v1/programs/{name}/prompts", "showPrompts",
       "What would be sent to models at each site of a text that is being edited", text_body, "", "", "200 404", json,
       "Prompts", "", false, nullptr, false, show_prompts},
      {"POST", "/v1/programs/{name}/plans", "showPlans",
       "The states and steps of each `pursue` of a text that is being edited, with places of a drawing", text_body, "",
       "", "200 404", json, "Plans", "", false, nullptr, false, show_plans},
      {"GET", "/v1/palette", "getPalette", "The kinds of blocks with their options and parts", "", "", "", "200", json,
       "Palette", "", false, &Api::show_palette},
  });
  return table;
}

std::span<const Route> Routes::others() {
  static constexpr std::string_view stream = "text/event-stream";
  static constexpr std::string_view either = "application/json text/event-stream";
  static constexpr std::string_view changes = "202 404 409 500";
  static constexpr auto table = std::to_array<Route>({
      {"GET", "/v1/agents", "listAgents",
       "Agents and functions that can be started, with JSON Schemas of arguments and value", "", "", "", "200", json,
       "Agents", "", false, &Api::list_agents},
      {"POST", "/v1/runs", "startRun",
       "Starts a run: of an agent with `input`, of a function with `args`, or with `input` if it takes one text",
       start_body, "", key, "201 404 409 500", json, "Started", "", false, &Api::start_run},
      {"GET", "/v1/runs", "listRuns", "The runs, oldest first", "", "state after limit:integer", "", "200 422", json,
       "RunList", "", false, &Api::list_runs},
      {"GET", "/v1/runs/{run}", "getRun", "A run's state, its open questions, and its end", "", "", "", "200 404", json,
       "Run", "", false, &Api::show_run},
      {"POST", "/v1/runs/{run}/prompt", "promptRun", "Begins a conversation's next turn",
       R"({"type":"object","properties":{"input":{}},"required":["input"],"additionalProperties":false})", "", key,
       changes, json, "Accepted", "", false, &Api::prompt_run},
      {"POST", "/v1/runs/{run}/resume", "resumeRun",
       "Answers a question of the run; without an input, tries again to reach its model or tool; with a budget, "
       "continues a run whose budget is spent, as a new run",
       resume_body, "", key, "201 202 404 409 500", json, "Accepted", "", false, &Api::resume_run},
      {"POST", "/v1/runs/{run}/fork", "forkRun",
       "Starts a new run that reuses the outcomes of this one up to a record, by default the last one", fork_body, "",
       key, "201 404 409 500", json, "Started", "", false, &Api::fork_run},
      {"POST", "/v1/runs/{run}/cancel", "cancelRun",
       "Cancels a run; of a conversation the current turn, or with `conversation` all of it",
       R"({"type":"object","properties":{"reason":{"type":"string"},"conversation":{"type":"boolean"}},)"
       R"("additionalProperties":false})",
       "", key, changes, json, "Accepted", "", false, &Api::cancel_run},
      {"GET", "/v1/runs/{run}/events", "readEvents",
       "The run's events after a number, as server-sent events, or as a JSON list with `Accept: application/json`; the "
       "list's `Link` asks for the rest",
       "", "after:integer limit:integer", "Last-Event-ID", "200 204 404 422 500", either, "EventList", "Link", false,
       &Api::read_events},
      {"GET", "/v1/runs/{run}/records/{record}", "getRecord",
       "The run as it was after a record: its stack, its agent's state, and what the model was sent for a generation",
       "", "", "", "200 404 500", json, "Moment", "", false, &Api::show_record},
      {"GET", "/v1/runs/{run}/reports", "listReports", "The reports that a run has written", "", "", "", "200 404",
       json, "Reports", "", false, &Api::list_reports},
      {"GET", "/v1/runs/{run}/reports/{report}", "readReport", "A report: Markdown, HTML or PDF", "", "", "",
       "200 404 413", "application/octet-stream", "", "", false, &Api::read_report},
      {"GET", "/v1/models", "listModels",
       "Agents and functions that can be used as a `model`, for clients of OpenAI's API", "", "", "", "200", json,
       "Models", "", false, &Api::list_models},
      {"GET", "/v1/models/{model}", "getModel", "One of them", "", "", "", "200 404", json, "Model", "", false,
       &Api::show_model},
      {"POST", "/v1/chat/completions", "completeChat",
       "Sends a message to an agent or function that takes one text, in the format of OpenAI's chat completions",
       chat_body, "", "Idempotency-Key X-Tenon-Conversation", "200 404 409 500", either, "ChatCompletion",
       "X-Tenon-Conversation X-Should-Retry", false, &Api::complete_chat},
      {"POST", "/v1/responses", "createResponse",
       "Sends a message to an agent or function that takes one text, in the format of OpenAI's responses",
       response_body, "", key, "200 404 409 500", either, "Response", "X-Tenon-Conversation X-Should-Retry", false,
       &Api::create_response},
      {"GET", "/v1/responses/{response}", "getResponse", "A response as it is now, or as a stream", "", "stream", "",
       "200 404", either, "Response", "", false, &Api::show_response},
      {"POST", "/v1/responses/{response}/cancel", "cancelResponse", "Cancels the turn of a response that has not ended",
       R"({"type":"object","additionalProperties":false})", "", key, "200 404 409 500", json, "Response", "", false,
       &Api::cancel_response},
      {"POST", "/agui/{agent}", "runAgui",
       "Sends a message to an agent or function that takes one text, in the format of AG-UI", agui_body, "", key,
       "200 404 409 500", stream, "", "X-Tenon-Conversation", false, &Api::run_agui},
      {"GET", "/v1/events", "readChanges", "Each run that changes, as the list of runs shows it", "", "", "", "200",
       stream, "", "", false, &Api::read_changes},
      {"GET", "/", "getStudio", "The studio's page", "", "", "", "200", "text/html", "", "", true, &Api::show_studio,
       true},
      {"GET", "/assets/{file}", "getStudioFile", "A script or style sheet of the studio's page", "", "", "", "200 404",
       "text/javascript text/css", "", "", true, &Api::show_studio, true},
      {"GET", "/openapi.json", "getOpenapi", "This document", "", "", "", "200", json, "Document", "", false,
       &Api::show_openapi},
      {"GET", "/healthz", "getHealth", "Whether the process responds; also while it cannot write its store", "", "", "",
       "200", json, "Health", "", true, &Api::show_health},
      {"GET", "/readyz", "getReadiness",
       "Whether requests that change something would be accepted: the programs are loaded, the store can be written "
       "and "
       "the server is not stopping",
       "", "", "", "200", json, "Readiness", "", true, &Api::show_readiness},
      {"GET", "/metrics", "getMetrics", "Counters, in the text format of Prometheus", "", "", "", "200", "text/plain",
       "", "", false, &Api::show_metrics},
  });
  return table;
}

std::span<const Route> Routes::all() {
  static const std::vector<Route> table = [] {
    std::vector<Route> routes(others().begin(), others().end());
    routes.insert(routes.end(), of_programs().begin(), of_programs().end());
    return routes;
  }();
  return table;
}

}  // namespace tenon::server
