#include "blocks/kinds.h"

#include <algorithm>
#include <array>

namespace tenon::blocks {
namespace {

using enum OptionRule::Need;

constexpr OptionRule restartable{"restartable", Optional, "`true` or `false`: whether the next turn may go on here"};

constexpr OptionRule core_loop[] = {
    {"prompt", Optional, "what the model is told at the beginning"},
    {"tools", Optional, "a set of tools that the model may call"},
    {"read", Optional, "a list of entries of `state` and `scratchpad` that the model may read"},
    {"write", Optional, "a list of entries that the model may write"},
    {"limit", Optional, "how often the model is asked at most; 25 where nothing is said"},
    restartable,
};
constexpr OptionRule request[] = {
    {"prompt", Required, "what the model is asked for"},
    {"into", Optional, "the entry that gets the answer; without it the person does"},
    restartable,
};
constexpr OptionRule tool_call[] = {
    {"call", Required, "a call in which `_` stands for what the model gives"},
    {"prompt", Optional, "what the model is told before"},
    {"into", Optional, "the entry that gets the result"},
    restartable,
};
constexpr OptionRule call[] = {
    {"call", Required, "a call without a model"},
    {"into", Optional, "the entry that gets the result"},
    restartable,
};
constexpr OptionRule delegate[] = {
    {"agent", Required, "the agent's name"},
    {"message", Optional, "what is said to it; without it what the person has said"},
    {"into", Optional, "the entry that gets its answer; without it the person does"},
    {"handoff", Optional, "`true`: the rest of the turn and the turns that follow are the other agent's"},
    restartable,
};
constexpr OptionRule route[] = {
    {"prompt", Optional, "what the model is told before it chooses"},
    restartable,
};
constexpr OptionRule for_each[] = {
    {"parallel", Optional, "how many items are worked on at the same time; 1 where nothing is said"},
    {"gather", Optional, "the value of an item"},
    {"into", Optional, "the entry that gets the list of values, in the order of the items"},
    restartable,
};
constexpr OptionRule parallel[] = {restartable};
constexpr OptionRule reflect[] = {
    {"mode", Required, "`improve`, `retry` or `synthesize`"},
    {"prompt", Required, "the task"},
    {"criteria", Optional, "what a good result is"},
    {"rounds", Optional, "how often it is criticised at most; 2 where nothing is said"},
    {"count", Optional, "how many drafts are brought together; 3 where nothing is said"},
    {"into", Optional, "the entry that gets the result; without it the person does"},
    restartable,
};
constexpr OptionRule compress[] = {
    {"keep", Optional, "how many of the newest messages stay as they are; 10 where nothing is said"},
    {"pinned", Optional, "a closure: which messages stay whatever their age"},
    {"prompt", Optional, "how the others are to be summed up"},
    restartable,
};
constexpr OptionRule edit_message[] = {
    {"text", Required, "what stands for the person's message from now on"},
    restartable,
};
constexpr OptionRule emit[] = {
    {"text", Required, "what the person is told"},
    restartable,
};
constexpr OptionRule report[] = {
    {"template", Required, "the report's text, in Markdown"},
    {"name", Optional, "the file's name, without its ending; the block's name where nothing is said"},
    {"title", Optional, "the document's title; the file's name where nothing is said"},
    {"format", Optional, "`markdown`, `html` or `pdf`; markdown where nothing is said"},
    {"into", Optional, "the entry, a text, that gets the path of the file"},
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
    KindRule{Kind::CoreLoop, "core_loop", "the model calls tools until it answers the person", core_loop,
             Part::When | Part::Called, false, true},
    KindRule{Kind::Request, "request", "the model gives one value, or one answer to the person", request},
    KindRule{Kind::ToolCall, "tool_call", "one tool is called, with arguments that the model gives", tool_call},
    KindRule{Kind::Call, "call", "one tool is called, without a model", call},
    KindRule{Kind::Delegate, "delegate", "another agent answers", delegate},
    KindRule{Kind::Route, "route", "the next block is chosen", route, Part::When | Part::To | Part::On | Part::Else},
    KindRule{Kind::ForEach, "for_each", "nested blocks run once for each item of a list", for_each, only(Part::Items)},
    KindRule{Kind::Parallel, "parallel", "branches of nested blocks run at the same time", parallel,
             only(Part::Branches)},
    KindRule{Kind::Reflect, "reflect", "a result is criticised and made again, or made of several", reflect},
    KindRule{Kind::Set, "set", "entries of `state` and `scratchpad` are set", {}, 0, true},
    KindRule{Kind::Compress, "compress", "older messages of the conversation become a summary", compress},
    KindRule{Kind::EditMessage, "edit_message", "the person's newest message gets another text", edit_message},
    KindRule{Kind::Emit, "emit", "the person is told something", emit},
    KindRule{Kind::Report, "report", "a report is written, as Markdown, HTML or PDF", report},
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
