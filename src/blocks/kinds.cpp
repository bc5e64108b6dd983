#include "blocks/kinds.h"

#include <algorithm>
#include <array>

namespace tenon::blocks {
namespace {

using enum OptionRule::Need;

constexpr OptionRule restartable{"restartable", Optional, "`true` or `false`: whether the next turn can resume here"};

constexpr OptionRule core_loop[] = {
    {"prompt", Optional, "instructions for the model at the start"},
    {"tools", Optional, "a set of tools that the model may call"},
    {"read", Optional, "a list of fields of `state` and `scratchpad` that the model may read"},
    {"write", Optional, "a list of fields that the model may write"},
    {"limit", Optional, "the maximum number of requests to the model; default 25"},
    {"keep_calls", Optional,
     "how many of its newest calls the model still sees when the loop begins again; default all"},
    restartable,
};
constexpr OptionRule request[] = {
    {"prompt", Required, "what to ask the model for"},
    {"into", Optional, "the field that receives the answer; by default the user does"},
    restartable,
};
constexpr OptionRule tool_call[] = {
    {"call", Required, "a call with `_` for the arguments from the model"},
    {"prompt", Optional, "instructions for the model"},
    {"into", Optional, "the field that receives the result"},
    restartable,
};
constexpr OptionRule call[] = {
    {"call", Required, "a call without `_`"},
    {"into", Optional, "the field that receives the result"},
    restartable,
};
constexpr OptionRule delegate[] = {
    {"agent", Required, "the name of the agent"},
    {"message", Optional, "the input of the agent; by default the user's input"},
    {"into", Optional, "the field that receives its answer; by default the user does"},
    {"handoff", Optional, "`true`: the other agent takes the rest of this turn and the following turns"},
    restartable,
};
constexpr OptionRule route[] = {
    {"prompt", Optional, "instructions for the model before it chooses"},
    restartable,
};
constexpr OptionRule for_each[] = {
    {"parallel", Optional, "the number of items that run concurrently; default 1"},
    {"gather", Optional, "the value to collect from each item"},
    {"into", Optional, "the field that receives the list of values, in the order of the items"},
    restartable,
};
constexpr OptionRule parallel[] = {restartable};
constexpr OptionRule reflect[] = {
    {"mode", Required, "`improve`, `retry` or `synthesize`"},
    {"prompt", Required, "the task"},
    {"criteria", Optional, "what makes a result good"},
    {"rounds", Optional, "the maximum number of critiques; default 2"},
    {"count", Optional, "the number of drafts to combine; default 3"},
    {"into", Optional, "the field that receives the result; by default the user does"},
    restartable,
};
constexpr OptionRule compress[] = {
    {"keep", Optional, "the number of recent messages to keep; default 10"},
    {"pinned", Optional, "a closure that selects messages to keep regardless of age"},
    {"prompt", Optional, "how to summarise the other messages"},
    restartable,
};
constexpr OptionRule edit_message[] = {
    {"text", Required, "the new text of the user's message"},
    restartable,
};
constexpr OptionRule emit[] = {
    {"text", Required, "the text to send to the user"},
    restartable,
};
constexpr OptionRule report[] = {
    {"template", Required, "the text of the report, in Markdown"},
    {"name", Optional, "the name of the file, without extension; by default the name of the block"},
    {"title", Optional, "the title of the document; by default the name of the file"},
    {"format", Optional, "`markdown`, `html` or `pdf`; default `markdown`"},
    {"into", Optional, "the text field that receives the path of the file"},
    restartable,
};

constexpr std::uint8_t operator|(Part left, Part right) {
  return static_cast<std::uint8_t>(static_cast<unsigned>(left) | static_cast<unsigned>(right));
}
constexpr std::uint8_t operator|(std::uint8_t left, Part right) {
  return static_cast<std::uint8_t>(left | static_cast<unsigned>(right));
}
constexpr auto only(Part part) {
  return static_cast<std::uint8_t>(part);
}

constexpr std::array rules{
    KindRule{Kind::CoreLoop, "core_loop", "the model calls tools until it answers the user", core_loop,
             Part::When | Part::Called, false, true},
    KindRule{Kind::Request, "request", "the model returns one value, or answers the user once", request},
    KindRule{Kind::ToolCall, "tool_call", "calls one tool with arguments from the model", tool_call},
    KindRule{Kind::Call, "call", "calls one tool without a model", call},
    KindRule{Kind::Delegate, "delegate", "another agent answers", delegate},
    KindRule{Kind::Route, "route", "chooses the next block", route, Part::When | Part::To | Part::On | Part::Else},
    KindRule{Kind::ForEach, "for_each", "runs nested blocks for each item of a list", for_each, only(Part::Items)},
    KindRule{Kind::Parallel, "parallel", "runs branches of nested blocks concurrently", parallel, only(Part::Branches)},
    KindRule{Kind::Reflect, "reflect", "improves a result by critique, or combines several drafts", reflect},
    KindRule{Kind::Set, "set", "sets fields of `state` and `scratchpad`", {}, 0, true},
    KindRule{Kind::Compress, "compress", "replaces older messages of the conversation with a summary", compress},
    KindRule{Kind::EditMessage, "edit_message", "replaces the text of the user's newest message", edit_message},
    KindRule{Kind::Emit, "emit", "sends text to the user", emit},
    KindRule{Kind::Report, "report", "writes a report as Markdown, HTML or PDF", report},
    KindRule{Kind::Code, "code", "statements", {}, 0, true},
};

}  // namespace

const OptionRule* KindRule::find_option(std::string_view option) const {
  const auto found =
      std::find_if(options.begin(), options.end(), [&](const OptionRule& rule) { return rule.name == option; });
  return found == options.end() ? nullptr : &*found;
}

std::span<const KindRule> kind_rules() {
  return rules;
}

const KindRule* find_kind(std::string_view name) {
  const auto found = std::find_if(rules.begin(), rules.end(), [&](const KindRule& rule) { return rule.name == name; });
  return found == rules.end() ? nullptr : &*found;
}

std::vector<std::string_view> kind_names() {
  std::vector<std::string_view> names;
  for (const KindRule& rule : rules) names.push_back(rule.name);
  return names;
}

}  // namespace tenon::blocks
