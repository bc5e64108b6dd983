// The schemas of requests and answers. Lists of names come from the tables of the parts that write them.
#include <string_view>

#include "algebra/compare.h"
#include "completion/completion.h"
#include "engine/plans.h"
#include "graph/edit_json.h"
#include "graph/graph.h"
#include "inference/model.h"
#include "journal/store.h"
#include "json/reader.h"
#include "protocol/event_schema.h"
#include "server/openapi.h"
#include "server/palette.h"
#include "types/plan/plan.h"
#include "types/plan/plan_verdicts.h"

namespace tenon::server {

namespace {

/// The schemas of what all parts of the protocol use.
constexpr std::string_view common_schemas = R"json({
"Error": {"type": "object", "required": ["error"], "properties": {"error": {"type": "object",
  "required": ["message", "type", "code"], "properties": {"message": {"type": "string"}, "type": {"type": "string"},
  "param": {"type": "string"}, "code": {"type": "string"}}}}},
"Text": {"type": "string"},
"JsonSchema": {"type": ["object", "boolean"], "description": "A JSON Schema."},
"Startable": {"description": "An agent or a function that can be started.", "type": "object",
  "required": ["name", "kind", "description", "input", "output", "takes_text"], "properties": {
  "name": {"type": "string"}, "kind": {"enum": ["agent", "function"]}, "description": {"type": "string"},
  "input": {"$ref": "#/components/schemas/JsonSchema"}, "output": {"$ref": "#/components/schemas/JsonSchema"},
  "takes_text": {"type": "boolean"}}},
"Agents": {"type": "object", "required": ["agents"], "properties": {
  "agents": {"type": "array", "items": {"$ref": "#/components/schemas/Startable"}}}},
"Health": {"type": "object", "required": ["status"], "properties": {"status": {"const": "ok"}}},
"Readiness": {"type": "object", "required": ["status"], "properties": {"status": {"const": "ready"}}},
"Document": {"type": "object", "required": ["openapi", "info", "paths"]}
})json";

constexpr std::string_view run_schemas = R"json({
"Budget": {"type": "object", "additionalProperties": false, "properties": {"calls": {"type": "integer"},
  "tokens": {"type": "integer"}, "instructions": {"type": "integer"}, "depth": {"type": "integer"},
  "time": {"type": ["string", "integer"], "description": "As in 30s, or milliseconds."}}},
"Started": {"type": "object", "required": ["run"], "properties": {"run": {"type": "string"}}},
"Accepted": {"type": "object", "required": ["run"], "properties": {"run": {"type": "string"},
  "wait": {"type": "string"}}},
"Wait": {"description": "A question to a person that is open.", "type": "object",
  "required": ["wait", "question", "type", "schema"], "properties": {
  "wait": {"type": "string"}, "question": {"type": "string"},
  "type": {"type": "string", "description": "The type of the answer, as programs write it."},
  "schema": {"$ref": "#/components/schemas/JsonSchema"},
  "until": {"type": "integer", "description": "The deadline, in milliseconds since 1970, as all times."},
  "agent": {"type": "string"}, "callers": {"type": "array", "items": {"type": "string"}},
  "value": {"description":
    "What a person is asked to approve. The answer is this value, `yes`, another value, or `null` or `no`."},
  "sources": {"type": "array", "items": {"type": "string"},
    "description": "What that value depends on, such as `extern read_inbox`; empty for the program's own."}}},
"Unavailable": {"description": "A model or a tool that cannot be reached.", "type": "object",
  "required": ["unavailable", "name", "reason", "attempts", "since", "effect"], "properties": {
  "unavailable": {"enum": ["model", "tool"]}, "name": {"type": "string"}, "reason": {"type": "string"},
  "attempts": {"type": "integer"}, "since": {"type": "integer"},
  "next_at": {"type": "integer", "description": "Without it, it is not tried again automatically."},
  "effect": {"type": "string"}}},
"Run": {"type": "object", "required": ["run", "state", "agent", "records", "created_at", "updated_at"], "properties": {
  "run": {"type": "string"}, "state": {"$ref": "#/components/schemas/RunState"},
  "agent": {"type": "string"}, "records": {"type": "integer", "description": "How many the run's journal has."},
  "created_at": {"type": "integer", "description": "In milliseconds since 1970, as all times."},
  "updated_at": {"type": "integer"}, "wakes_at": {"type": "integer"},
  "waits": {"type": "array", "items": {"$ref": "#/components/schemas/Wait"}},
  "unavailable": {"type": "array", "items": {"$ref": "#/components/schemas/Unavailable"}},
  "timers": {"type": "array", "items": {"type": "integer"},
    "description": "When what the run sleeps for ends, earliest first; at most 100 times."},
  "stalled": {"type": "string", "description": "Why no server continues the run: what those lack that have tried."},
  "end": {"anyOf": [{"$ref": "#/components/schemas/Event"}, {"type": "null"}]}}},
"RunList": {"type": "object", "required": ["runs", "next"], "properties": {
  "runs": {"type": "array", "items": {"$ref": "#/components/schemas/Run"}},
  "next": {"type": ["string", "null"], "description": "The parameter `after` of the next page."}}},
"EventList": {"type": "array", "items": {"$ref": "#/components/schemas/Event"}},
"ProgramChange": {"description": "The file of a program has other contents.", "type": "object",
  "required": ["program", "version"], "properties": {"program": {"type": "string"},
  "version": {"type": ["string", "null"], "description": "Null if the file cannot be read."}}},
"MissedChanges": {"description": "Too many changes have come at once: read everything again.", "type": "object",
  "required": ["missed"], "properties": {"missed": {"const": true}}},
"Change": {"description": "An event of the stream over all runs and programs.", "anyOf": [
  {"$ref": "#/components/schemas/Run"}, {"$ref": "#/components/schemas/ProgramChange"},
  {"$ref": "#/components/schemas/MissedChanges"}]},
"ForkRequest": {"type": "object", "additionalProperties": false, "properties": {
  "at": {"type": "integer", "minimum": 0, "description": "A record; by default the last one."},
  "budget": {"$ref": "#/components/schemas/Budget"},
  "text": {"type": ["string", "null"], "description": "Of the changed program."},
  "dry_run": {"type": ["boolean", "null"]}}},
"RequestPlace": {"description": "A request of a run, by what it requests and where.", "type": "object",
  "required": ["kind", "name", "place"], "properties": {"kind": {"type": "string"}, "name": {"type": "string"},
  "place": {"type": "string"}, "record": {"type": "integer", "description": "Of its outcome."}}},
"Parting": {"description": "The first request that differs from the record.", "type": "object",
  "required": ["kind", "name", "place"], "properties": {"kind": {"type": "string"}, "name": {"type": "string"},
  "place": {"type": "string"}, "record": {"type": "integer"},
  "recorded": {"$ref": "#/components/schemas/RequestPlace"}}},
"ForkEstimate": {"description": "What a fork would do. Without counts, its text has errors: `problems`.",
  "type": "object", "required": ["problems"], "properties": {
  "problems": {"type": "array", "items": {"$ref": "#/components/schemas/Problem"}},
  "taken": {"type": "integer", "description": "Outcomes that are taken from the record."},
  "model_requests": {"type": "integer"}, "tool_calls": {"type": "integer"}, "questions": {"type": "integer"},
  "requests": {"type": "array", "items": {"$ref": "#/components/schemas/RequestPlace"}},
  "complete": {"type": "boolean", "description": "Whether these are all requests until the run ends or waits."},
  "turns_left": {"type": "integer"}, "failure": {"type": "string"},
  "parts": {"$ref": "#/components/schemas/Parting"}}},
"Fork": {"anyOf": [{"$ref": "#/components/schemas/Started"}, {"$ref": "#/components/schemas/ForkEstimate"}]},
"Replayed": {"type": "object", "required": ["same", "ended"], "properties": {"same": {"type": "boolean"},
  "ended": {"type": "boolean"}, "difference": {"type": "string"}, "value": {}, "failure": {"type": "string"}}},
"DifferenceSide": {"type": "object", "properties": {"value": {}, "call": {"type": "integer"},
  "record": {"type": "integer"}}},
"DifferencePart": {"type": "object", "required": ["what", "turn", "a", "b"], "properties": {
  "what": {"$ref": "#/components/schemas/DifferenceKind"}, "turn": {"type": "integer"}, "tool": {"type": "string"},
  "at": {"type": "string"}, "index": {"type": "integer"},
  "a": {"$ref": "#/components/schemas/DifferenceSide"}, "b": {"$ref": "#/components/schemas/DifferenceSide"}}},
"RunDifference": {"type": "object", "required": ["a", "b", "same", "differences", "left_out"], "properties": {
  "a": {"type": "string"}, "b": {"type": "string"}, "same": {"type": "boolean"},
  "differences": {"type": "array", "items": {"$ref": "#/components/schemas/DifferencePart"}},
  "left_out": {"type": "integer", "description": "Further ones, which are only counted."}}},
"RunProgram": {"description": "The text of the program with which a run continues.", "type": "object",
  "required": ["file", "text"], "properties": {
  "program": {"type": "string", "description": "Its name among the programs, if it is one of them."},
  "file": {"type": "string"}, "text": {"type": "string"}}},
"Report": {"type": "object", "required": ["name", "type", "bytes"], "properties": {"name": {"type": "string"},
  "type": {"type": "string"}, "bytes": {"type": "integer"}}},
"Reports": {"type": "object", "required": ["reports"], "properties": {
  "reports": {"type": "array", "items": {"$ref": "#/components/schemas/Report"}}}},
"Variable": {"description": "A variable of a call. Of a long value only the start of its text is there: `cut`.",
  "type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "value": {},
  "cut": {"type": "string"},
  "origin": {"type": "string", "description": "Where it comes from, with all its parts, if not from the program."}}},
"PursuitState": {"description": "A state in which a `pursue` is, as the value of Variable.", "type": "object",
  "required": ["action"], "properties": {
  "action": {"type": "integer",
    "description": "That has led to it, from 1 in the order of the plan's actions; 0: it is the initial one."},
  "value": {}, "cut": {"type": "string"}}},
"Pursuit": {"description": "A `pursue` that has begun and not ended.", "type": "object",
  "required": ["place", "states"], "properties": {
  "place": {"type": "string", "description": "LINE:COLUMN in the call's file, as the plan's place has it."},
  "states": {"type": "array", "items": {"$ref": "#/components/schemas/PursuitState"},
    "description": "Several with a `width`."}}},
"StackCall": {"type": "object", "required": ["function", "place", "variables"], "properties": {
  "function": {"type": "string"}, "place": {"type": "string", "description": "FILE:LINE:COLUMN"},
  "variables": {"type": "array", "items": {"$ref": "#/components/schemas/Variable"}},
  "pursuits": {"type": "array", "items": {"$ref": "#/components/schemas/Pursuit"}}}},
"SeenEntry": {"description": "An entry of the context of a generation.", "type": "object",
  "required": ["origin", "role", "text"], "properties": {
  "origin": {"type": "string",
    "description": "Where its text comes from, such as `program` or `model, extern fetch`."},
  "role": {"enum": ["program", "instructions", "person", "assistant", "requirement", "refusal"]},
  "text": {"type": "string"}}},
"PromptMessage": {"type": "object", "required": ["role", "text"], "properties": {
  "role": {"$ref": "#/components/schemas/MessageRole"}, "text": {"type": "string"}}},
"TokenCounts": {"type": "object", "required": ["computed", "reused", "generated", "forced"], "properties": {
  "computed": {"type": "integer"}, "reused": {"type": "integer"}, "generated": {"type": "integer"},
  "forced": {"type": "integer"}}},
"Prompt": {"description": "What a model was sent for a generation.", "type": "object",
  "required": ["generation", "label", "entries", "messages"], "properties": {
  "generation": {"type": "string"}, "label": {"type": "string"},
  "entries": {"type": "array", "items": {"$ref": "#/components/schemas/SeenEntry"}},
  "messages": {"type": "array", "items": {"$ref": "#/components/schemas/PromptMessage"}},
  "schema": {"$ref": "#/components/schemas/JsonSchema"}, "tokens": {"$ref": "#/components/schemas/TokenCounts"}}},
"AgentState": {"type": "object", "properties": {"state": {"type": "object"}, "scratchpad": {"type": "object"}}},
"Moment": {"description": "A run as it was after a record.", "type": "object", "required": ["stack"], "properties": {
  "stack": {"type": "array", "items": {"$ref": "#/components/schemas/StackCall"},
    "description": "The innermost call first."},
  "agent": {"type": "string"}, "state": {"type": "object"}, "scratchpad": {"type": "object"},
  "before": {"$ref": "#/components/schemas/AgentState"}, "prompt": {"$ref": "#/components/schemas/Prompt"}}}
})json";

constexpr std::string_view graph_schemas = R"json({
"ByteRange": {"description": "A part of a text, in bytes of UTF-8.", "type": "object",
  "required": ["offset", "length"], "properties": {"offset": {"type": "integer"}, "length": {"type": "integer"}}},
"Point": {"description": "x and y, or width and height, in pixels from the upper left corner of the agent.",
  "type": "array", "prefixItems": [{"type": "number"}, {"type": "number"}], "minItems": 2, "maxItems": 2},
"Edge": {"type": "object", "required": ["kind", "target"], "properties": {
  "kind": {"$ref": "#/components/schemas/EdgeKind"}, "label": {"type": "string"}, "on": {"type": "string"},
  "target": {"type": "string", "description": "The name of a block of the same sequence."},
  "points": {"type": "array", "items": {"$ref": "#/components/schemas/Point"},
    "description": "A curve with vertical ends leads through them."},
  "text": {"type": "string", "description": "The label in one line."},
  "text_at": {"$ref": "#/components/schemas/Point"},
  "passage": {"$ref": "#/components/schemas/Passage"}}},
"Setting": {"type": "object", "required": ["name", "value"], "properties": {"name": {"type": "string"},
  "value": {"type": "string"}}},
"Field": {"description": "An entry of `state` or `scratchpad`.", "type": "object",
  "required": ["name", "type", "value"], "properties": {"name": {"type": "string"}, "type": {"type": "string"},
  "value": {"type": "string"}, "documentation": {"type": "string"}}},
"Declaration": {"description": "What a file or an agent declares.", "type": "object",
  "required": ["kind", "name", "range"], "properties": {"kind": {"type": "string"}, "name": {"type": "string"},
  "documentation": {"type": "string"}, "range": {"$ref": "#/components/schemas/ByteRange"}}},
"Item": {"description": "What a for_each iterates over.", "type": "object", "required": ["name", "type", "list"],
  "properties": {"name": {"type": "string"}, "type": {"type": "string"}, "list": {"type": "string"}}},
"Block": {"type": "object", "required": ["path", "name", "kind", "range", "options", "edges"], "properties": {
  "path": {"type": "string", "description": "As in the events `block_entered` and `block_left`."},
  "name": {"type": "string"}, "kind": {"type": "string"}, "documentation": {"type": "string"},
  "excerpt": {"type": "string"}, "range": {"$ref": "#/components/schemas/ByteRange"},
  "item": {"$ref": "#/components/schemas/Item"},
  "options": {"type": "array", "items": {"$ref": "#/components/schemas/Setting"}},
  "statements": {"type": "string"}, "edges": {"type": "array", "items": {"$ref": "#/components/schemas/Edge"}},
  "sequences": {"type": "array", "items": {"$ref": "#/components/schemas/Sequence"}},
  "at": {"$ref": "#/components/schemas/Point"}, "size": {"$ref": "#/components/schemas/Point"}}},
"Sequence": {"description": "Blocks that are connected by edges.", "type": "object",
  "required": ["path", "name", "blocks"], "properties": {"path": {"type": "string"}, "name": {"type": "string"},
  "blocks": {"type": "array", "items": {"$ref": "#/components/schemas/Block"}},
  "at": {"$ref": "#/components/schemas/Point"}, "size": {"$ref": "#/components/schemas/Point"},
  "dot": {"$ref": "#/components/schemas/Point"},
  "dot_points": {"type": "array", "items": {"$ref": "#/components/schemas/Point"},
    "description": "From the start dot to the first block."}}},
"Agent": {"type": "object",
  "required": ["name", "range", "start", "state", "scratchpad", "functions", "sequences"], "properties": {
  "name": {"type": "string"}, "documentation": {"type": "string"},
  "range": {"$ref": "#/components/schemas/ByteRange"},
  "start": {"type": "string", "description": "The first block of a conversation."}, "next_turn": {"type": "string"},
  "state": {"type": "array", "items": {"$ref": "#/components/schemas/Field"}},
  "scratchpad": {"type": "array", "items": {"$ref": "#/components/schemas/Field"}},
  "instructions": {"type": "string"},
  "functions": {"type": "array", "items": {"$ref": "#/components/schemas/Declaration"}},
  "sequences": {"type": "array", "items": {"$ref": "#/components/schemas/Sequence"}},
  "size": {"$ref": "#/components/schemas/Point"},
  "left_out": {"type": "integer", "description": "Of calls that are too many to draw: how many there are."}}},
"Graph": {"type": "object", "required": ["version", "agents", "declarations"], "properties": {
  "version": {"type": "string"}, "agents": {"type": "array", "items": {"$ref": "#/components/schemas/Agent"}},
  "declarations": {"type": "array", "items": {"$ref": "#/components/schemas/Declaration"}}}},
"Edit": {"description": "An edit of a graph: docs/guides/graph.md says which fields each `op` has.", "type": "object",
  "required": ["op"], "additionalProperties": false, "properties": {"op": {"$ref": "#/components/schemas/EditKind"},
  "agent": {"type": ["string", "null"]}, "block": {"type": ["string", "null"]}, "name": {"type": "string"},
  "kind": {"type": ["string", "null"]}, "sequence": {"type": ["string", "null"]},
  "after": {"type": ["string", "null"]}, "documentation": {"type": ["string", "null"]},
  "options": {"type": "array", "items": {"$ref": "#/components/schemas/Setting"}},
  "item": {"$ref": "#/components/schemas/Item"}, "statements": {"type": ["string", "null"]},
  "next": {"type": ["string", "null"]}, "label": {"type": ["string", "null"]}, "on": {"type": ["string", "null"]},
  "target": {"type": ["string", "null"]}, "option": {"type": "string"}, "value": {"type": ["string", "null"]},
  "mode": {"type": ["string", "null"]}, "position": {"type": "integer", "minimum": 0}, "branch": {"type": "string"},
  "section": {"enum": ["state", "scratchpad", null]}, "field": {"type": "string"},
  "type": {"type": ["string", "null"]}, "text": {"type": ["string", "null"]},
  "declaration": {"type": ["string", "null"]}, "source": {"type": "string"},
  "offset": {"type": "integer", "minimum": 0}, "removed": {"type": "string"}, "inserted": {"type": "string"}}}
})json";

constexpr std::string_view program_schemas = R"json({
"ProgramEntry": {"type": "object", "required": ["name", "file"], "properties": {"name": {"type": "string"},
  "file": {"type": "string"}}},
"Programs": {"type": "object", "required": ["programs"], "properties": {
  "programs": {"type": "array", "items": {"$ref": "#/components/schemas/ProgramEntry"}}}},
"Program": {"type": "object", "required": ["name", "version", "text", "graph"], "properties": {
  "name": {"type": "string"}, "version": {"type": "string"}, "text": {"type": "string"},
  "graph": {"$ref": "#/components/schemas/Graph"},
  "problem": {"type": "string", "description": "Why the text cannot be edited as a graph."},
  "inverse": {"type": "array", "items": {"$ref": "#/components/schemas/Edit"}}}},
"Severity": {"enum": ["error", "warning", "note"]},
"Patch": {"description": "Bytes to replace in a text.", "type": "object",
  "required": ["offset", "removed", "inserted"], "properties": {"offset": {"type": "integer"},
  "removed": {"type": "integer", "description": "How many bytes."}, "inserted": {"type": "string"}}},
"ProblemLabel": {"type": "object", "required": ["file", "line", "column", "end_line", "end_column",
  "offset", "length", "text"], "properties": {
  "file": {"type": "string"}, "line": {"type": "integer"}, "column": {"type": "integer"},
  "end_line": {"type": "integer"}, "end_column": {"type": "integer"},
  "offset": {"type": "integer"}, "length": {"type": "integer"}, "text": {"type": "string"}}},
"ProblemFix": {"type": "object", "required": ["file", "line", "column", "end_line",
  "end_column", "offset", "length", "replacement"],
  "properties": {"file": {"type": "string"}, "line": {"type": "integer"}, "column": {"type": "integer"},
  "end_line": {"type": "integer"}, "end_column": {"type": "integer"},
  "offset": {"type": "integer"}, "length": {"type": "integer"}, "replacement": {"type": "string"}}},
"Problem": {"description": "As `tenon check --json` prints it. One without a place concerns no part of the text.",
  "type": "object", "required": ["code", "severity", "message", "labels", "hints"], "properties": {
  "code": {"type": "string"}, "severity": {"$ref": "#/components/schemas/Severity"}, "message": {"type": "string"},
  "file": {"type": "string"}, "line": {"type": "integer"}, "column": {"type": "integer"},
  "end_line": {"type": "integer"}, "end_column": {"type": "integer"},
  "offset": {"type": "integer", "description": "In bytes of UTF-8, as the length."}, "length": {"type": "integer"},
  "labels": {"type": "array", "items": {"$ref": "#/components/schemas/ProblemLabel"}},
  "hints": {"type": "array", "items": {"type": "string"}}, "fix": {"$ref": "#/components/schemas/ProblemFix"}}},
"Draft": {"type": "object", "required": ["version", "patches", "agents", "calls", "declarations", "problems"],
  "properties": {"version": {"type": "string"},
  "patches": {"type": "array", "items": {"$ref": "#/components/schemas/Patch"},
    "description": "What the edits change in the given text."},
  "agents": {"type": "array", "items": {"$ref": "#/components/schemas/Agent"}},
  "calls": {"$ref": "#/components/schemas/Agent",
    "description": "What calls what in the file, as an agent whose blocks are functions."},
  "declarations": {"type": "array", "items": {"$ref": "#/components/schemas/Declaration"}},
  "problems": {"type": "array", "items": {"$ref": "#/components/schemas/Problem"}}}},
"Saved": {"type": "object", "required": ["version", "problems", "runs"], "properties": {
  "version": {"type": "string"}, "problems": {"type": "array", "items": {"$ref": "#/components/schemas/Problem"}},
  "runs": {"enum": ["new", "old"], "description": "Whether new runs use this text, or the last one without errors."}}},
"Suggestion": {"description": "A name that can be written at a place of a text.", "type": "object",
  "required": ["label", "kind"], "properties": {"label": {"type": "string"},
  "kind": {"$ref": "#/components/schemas/NameKind"}, "detail": {"type": "string"},
  "documentation": {"type": "string"},
  "inserted": {"type": "string", "description": "What is written for it, if not the label."}}},
"Completions": {"type": "object", "required": ["from", "to", "complete", "suggestions"], "properties": {
  "from": {"type": "integer", "description": "In bytes of UTF-8, as the other places."}, "to": {"type": "integer"},
  "complete": {"type": "boolean", "description": "Whether these are all."},
  "suggestions": {"type": "array", "items": {"$ref": "#/components/schemas/Suggestion"}}}},
"Meaning": {"description": "What the name at a place means; without a title, there is none.", "type": "object",
  "properties": {"from": {"type": "integer"}, "to": {"type": "integer"}, "title": {"type": "string"},
  "documentation": {"type": "string"}}},
"SitePrompt": {"description": "What would be sent to a model. Data of a run appear as `{{ name }}`.", "type": "object",
  "required": ["kind", "function", "line", "column", "messages", "other_forms"], "properties": {
  "kind": {"type": "string"}, "function": {"type": "string"}, "line": {"type": "integer"},
  "column": {"type": "integer"}, "note": {"type": "string"}, "schema": {"$ref": "#/components/schemas/JsonSchema"},
  "other_forms": {"type": "integer", "description": "Forms that the answer can have in other runs."},
  "messages": {"type": "array", "items": {"$ref": "#/components/schemas/PromptMessage"}}}},
"SitePrompts": {"type": "object", "required": ["prompts", "tools", "has_errors"], "properties": {
  "has_errors": {"type": "boolean", "description": "Then there are no prompts."},
  "prompts": {"type": "array", "items": {"$ref": "#/components/schemas/SitePrompt"}},
  "tools": {"type": "array", "items": {"type": "string"}}}},
"Requirement": {"description": "A condition of a step, and what is known about it in the state before.",
  "type": "object", "required": ["words", "judged", "relation", "by"], "properties": {"words": {"type": "string"},
  "judged": {"type": "boolean"}, "relation": {"$ref": "#/components/schemas/Relation"},
  "by": {"$ref": "#/components/schemas/DecidedBy"}, "reason": {"type": "string"}}},
"PlanAction": {"type": "object", "required": ["name", "takes", "gives", "reachable"], "properties": {
  "name": {"type": "string"}, "takes": {"type": "string"}, "gives": {"type": "string"},
  "reachable": {"type": "boolean"}}},
"PlanStep": {"type": "object", "required": ["from", "to", "passage", "by", "requirements"], "properties": {
  "from": {"type": "string"}, "to": {"type": "string"}, "passage": {"$ref": "#/components/schemas/Passage"},
  "by": {"$ref": "#/components/schemas/DecidedBy"},
  "requirements": {"type": "array", "items": {"$ref": "#/components/schemas/Requirement"}}}},
"MissingAction": {"type": "object", "required": ["of", "words"], "properties": {"of": {"type": "string"},
  "words": {"type": "string"}}},
"Plan": {"description": "The states and steps of a `pursue`. A state is `start`, an action, or `goal`.",
  "type": "object", "required": ["place", "goal", "start_type", "goal_type", "actions", "edges", "dead", "missing",
  "goal_entailed", "range", "graph"], "properties": {"place": {"type": "string"}, "goal": {"type": "string"},
  "start_type": {"type": "string"}, "goal_type": {"type": "string"},
  "actions": {"type": "array", "items": {"$ref": "#/components/schemas/PlanAction"}},
  "edges": {"type": "array", "items": {"$ref": "#/components/schemas/PlanStep"}},
  "dead": {"type": "array", "items": {"type": "string"}},
  "missing": {"type": "array", "items": {"$ref": "#/components/schemas/MissingAction"}},
  "goal_entailed": {"type": "boolean"}, "range": {"$ref": "#/components/schemas/ByteRange"},
  "graph": {"$ref": "#/components/schemas/Agent"}}},
"Plans": {"type": "object", "required": ["plans", "has_errors"], "properties": {
  "has_errors": {"type": "boolean", "description": "Then there are no plans."},
  "plans": {"type": "array", "items": {"$ref": "#/components/schemas/Plan"}}}},
"OptionRule": {"type": "object", "required": ["name", "required", "meaning"], "properties": {
  "name": {"type": "string"}, "required": {"type": "boolean"}, "meaning": {"type": "string"}}},
"KindRule": {"description": "A kind of block.", "type": "object",
  "required": ["name", "meaning", "options", "parts", "has_statements", "is_restartable"], "properties": {
  "name": {"type": "string"}, "meaning": {"type": "string"},
  "options": {"type": "array", "items": {"$ref": "#/components/schemas/OptionRule"}},
  "parts": {"type": "array", "items": {"$ref": "#/components/schemas/Part"}}, "has_statements": {"type": "boolean"},
  "is_restartable": {"type": "boolean"}}},
"Palette": {"type": "object", "required": ["kinds"], "properties": {
  "kinds": {"type": "array", "items": {"$ref": "#/components/schemas/KindRule"}}}}
})json";

/// Of the routes in OpenAI's format.
constexpr std::string_view openai_schemas = R"json({
"Model": {"type": "object", "required": ["id", "object", "created", "owned_by"],
  "properties": {"id": {"type": "string"}, "object": {"const": "model"}, "created": {"type": "integer"},
  "owned_by": {"type": "string"}}},
"Models": {"type": "object", "required": ["object", "data"], "properties": {"object": {"const": "list"},
  "data": {"type": "array", "items": {"$ref": "#/components/schemas/Model"}}}},
"OpenWait": {"type": "object", "required": ["run", "wait", "schema"], "properties": {"run": {"type": "string"},
  "wait": {"type": "string"}, "schema": {"$ref": "#/components/schemas/JsonSchema"}}},
"ChatCompletion": {"type": "object",
  "required": ["id", "object", "created", "model", "conversation", "choices", "usage"], "properties": {
  "id": {"type": "string"}, "object": {"const": "chat.completion"}, "created": {"type": "integer"},
  "model": {"type": "string"}, "conversation": {"type": "string"},
  "wait": {"$ref": "#/components/schemas/OpenWait"},
  "choices": {"type": "array", "items": {"type": "object", "required": ["index", "message", "finish_reason"],
    "properties": {"index": {"type": "integer"}, "finish_reason": {"type": "string"}, "message": {"type": "object",
    "required": ["role", "content"], "properties": {"role": {"const": "assistant"}, "content": {"type": "string"}}}}}},
  "usage": {"type": "object", "required": ["prompt_tokens", "completion_tokens", "total_tokens"], "properties": {
    "prompt_tokens": {"type": "integer"}, "completion_tokens": {"type": "integer"},
    "total_tokens": {"type": "integer"}}}}},
"Response": {"type": "object",
  "required": ["id", "object", "created_at", "status", "model", "output", "conversation", "error", "usage"],
  "properties": {"id": {"type": "string"}, "object": {"const": "response"}, "created_at": {"type": "integer"},
  "status": {"enum": ["in_progress", "completed", "failed", "cancelled"]}, "model": {"type": "string"},
  "background": {"type": "boolean"}, "previous_response_id": {"type": ["string", "null"]},
  "conversation": {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}},
  "wait": {"$ref": "#/components/schemas/OpenWait"},
  "error": {"type": ["object", "null"], "required": ["code", "message"], "properties": {"code": {"type": "string"},
    "message": {"type": "string"}}},
  "output": {"type": "array", "items": {"type": "object", "required": ["id", "type", "status", "role", "content"],
    "properties": {"type": {"const": "message"}, "role": {"const": "assistant"}, "content": {"type": "array", "items": {
    "type": "object", "required": ["type", "text"], "properties": {"type": {"const": "output_text"},
    "text": {"type": "string"}}}}}}},
  "usage": {"type": ["object", "null"], "required": ["input_tokens", "output_tokens", "total_tokens"], "properties": {
    "input_tokens": {"type": "integer"}, "output_tokens": {"type": "integer"}, "total_tokens": {"type": "integer"}}}}}
})json";

/// The names of all enumerators up to the last one.
template <class Kind, class Name>
Json names_until(Kind last, Name name) {
  Json names = Json::array();
  for (std::uint8_t at = 0; at <= static_cast<std::uint8_t>(last); ++at) {
    names.push_back(name(static_cast<Kind>(at)));
  }
  return Json::object({{"enum", std::move(names)}});
}

void add_names(Json& schemas) {
  schemas["RunState"] =
      names_until(journal::RunState::Forgotten, [](journal::RunState state) { return journal::name_of(state); });
  schemas["DifferenceKind"] = names_until(algebra::DifferenceKind::Control, algebra::difference_name);
  schemas["MessageRole"] = names_until(inference::Role::Assistant, inference::role_name);
  schemas["EdgeKind"] = names_until(graph::EdgeKind::Called, [](graph::EdgeKind kind) { return graph::name_of(kind); });
  schemas["EditKind"] = Json::object({{"enum", Json::array_of(graph::edit_names())}});
  schemas["NameKind"] =
      names_until(completion::NameKind::Option, [](completion::NameKind kind) { return completion::name_of(kind); });
  schemas["Passage"] = Json::object({{"enum", Json::array_of(engine::passage_names)}});
  schemas["Relation"] = names_until(types::Relation::Contradicts, types::relation_name);
  schemas["DecidedBy"] = names_until(types::DecidedBy::Run, types::decider_name);
  Json parts = Json::array();
  for (const auto& [part, name] : palette_parts) parts.push_back(name);
  schemas["Part"] = Json::object({{"enum", std::move(parts)}});
}

void add_events(Json& schemas) {
  Json event = parse_own_json(protocol::make_event_schema());
  Json any = Json::array();
  for (auto& [name, schema] : event["$defs"].mutable_members()) {
    any.push_back(Json::object({{"$ref", "#/components/schemas/event." + name}}));
    schemas["event." + name] = std::move(schema);
  }
  schemas["Event"] = Json::object({{"oneOf", std::move(any)}});
}

}  // namespace

Json make_schemas() {
  Json schemas = Json::object();
  for (const std::string_view some : {common_schemas, run_schemas, graph_schemas, program_schemas, openai_schemas}) {
    schemas.update(parse_own_json(some));
  }
  add_names(schemas);
  add_events(schemas);
  return schemas;
}

}  // namespace tenon::server
