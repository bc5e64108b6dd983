#include "graph/edit_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "json/reader.h"

namespace tenon::graph {
namespace {

/// Reads the fields of one JSON object, and remembers the first problem.
class Fields {
 public:
  explicit Fields(const Json& object) : object_(object) {}

  std::string text(const char* name) {
    auto found = optional_text(name);
    if (!found) complain(fmt::format("`{}` is missing", name));
    return found.value_or("");
  }
  std::string text_or_nothing(const char* name) { return optional_text(name).value_or(""); }
  std::optional<std::string> optional_text(const char* name) {
    const Json* const value = take(name);
    if (value == nullptr || value->is_null()) return std::nullopt;
    if (!value->is_string()) complain(fmt::format("`{}`: expected a string", name));
    return value->is_string() ? std::optional(value->as_string()) : std::nullopt;
  }
  std::size_t number(const char* name) {
    const Json* const value = take(name);
    if (value == nullptr || !value->is_count()) {
      complain(fmt::format("`{}` must be a non-negative integer", name));
      return 0;
    }
    return value->as_count();
  }
  EdgeKey edge() {
    EdgeKey key;
    const std::string kind = optional_text("kind").value_or("next");
    if (const auto found = find_edge_kind(kind)) {
      key.kind = *found;
    } else {
      complain(fmt::format("`{}` is not an edge kind: expected next, when, to, case, else or called", kind));
    }
    key.label = text_or_nothing("label");
    key.on = text_or_nothing("on");
    return key;
  }
  Place place() { return {text_or_nothing("sequence"), optional_text("after")}; }
  std::vector<Setting> options() {
    std::vector<Setting> options;
    const Json* const value = take("options");
    if (value == nullptr) return options;
    for (const Json& element : value->is_array() ? value->items() : Json::Array()) {
      if (!element.is_object()) complain("an option is an object with `name` and `value`");
      if (!element.is_object()) break;
      Fields fields(element);
      options.push_back({fields.text("name"), "", fields.text("value")});
      adopt(fields);
    }
    if (!value->is_array()) complain("`options`: expected an array");
    return options;
  }
  std::optional<Item> item() {
    const Json* const value = take("item");
    if (value == nullptr) return std::nullopt;
    if (!value->is_object()) complain("`item` is an object with `name`, `type` and `list`");
    if (!value->is_object()) return std::nullopt;
    Fields fields(*value);
    Item item{fields.text("name"), fields.text("type"), fields.text("list")};
    adopt(fields);
    return item;
  }

  void complain(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
  }
  /// The first problem, which can be a field that was not read; empty if there is none.
  [[nodiscard]] std::string problem() const {
    if (!problem_.empty()) return problem_;
    for (const auto& [name, value] : object_.members()) {
      if (std::find(taken_.begin(), taken_.end(), name) == taken_.end()) {
        return fmt::format("unknown field `{}`", name);
      }
    }
    return "";
  }

 private:
  const Json* take(const char* name) {
    taken_.emplace_back(name);
    return object_.find(name);
  }
  void adopt(const Fields& inner) {
    if (std::string problem = inner.problem(); !problem.empty()) complain(std::move(problem));
  }

  const Json& object_;
  std::vector<std::string> taken_;
  std::string problem_;
};

constexpr std::array<std::string_view, 11> ops = {"add",       "connect",       "disconnect",     "rename",
                                                  "delete",    "set_option",    "set_statements", "move",
                                                  "set_start", "set_next_turn", "replace"};

Edit read_edit(Fields& fields) {
  const std::string op = fields.text("op");
  if (std::find(ops.begin(), ops.end(), op) == ops.end()) {
    fields.complain(fmt::format("unknown edit `{}`: expected {} or {}", op, fmt::join(ops.begin(), ops.end() - 1, ", "),
                                ops.back()));
    return DeleteBlock{};
  }
  if (op == "replace") return Replace{fields.number("offset"), fields.text("removed"), fields.text("inserted")};
  const std::string agent = fields.text("agent");
  if (op == "set_start") return SetStart{agent, fields.optional_text("block")};
  if (op == "set_next_turn") return SetNextTurn{agent, fields.optional_text("mode")};
  if (op == "add") {
    return AddBlock{agent,
                    fields.place(),
                    fields.text("name"),
                    fields.text("kind"),
                    fields.text_or_nothing("documentation"),
                    fields.options(),
                    fields.item(),
                    fields.text_or_nothing("statements"),
                    fields.optional_text("next")};
  }
  const std::string block = fields.text("block");
  if (op == "connect") return Connect{agent, block, fields.edge(), fields.text("target")};
  if (op == "disconnect") return Disconnect{agent, block, fields.edge(), fields.optional_text("target")};
  if (op == "rename") return RenameBlock{agent, block, fields.text("name")};
  if (op == "delete") return DeleteBlock{agent, block};
  if (op == "set_option") return SetOption{agent, block, fields.text("option"), fields.optional_text("value")};
  if (op == "set_statements") return SetStatements{agent, block, fields.text("statements")};
  return MoveBlock{agent, block, fields.place()};
}

void add_text(Json& json, const char* name, const std::optional<std::string>& text) {
  if (text) json[name] = *text;
}
void add_text(Json& json, const char* name, const std::string& text) {
  if (!text.empty()) json[name] = text;
}
void add_edge(Json& json, const EdgeKey& edge) {
  json["kind"] = name_of(edge.kind);
  add_text(json, "label", edge.label);
  add_text(json, "on", edge.on);
}
void add_place(Json& json, const Place& place) {
  json["sequence"] = place.sequence;
  add_text(json, "after", place.after);
}

struct ToJson {
  Json operator()(const AddBlock& edit) const {
    Json json = Json::object({{"op", "add"}, {"agent", edit.agent}});
    add_place(json, edit.place);
    json["name"] = edit.name;
    json["kind"] = edit.kind;
    add_text(json, "documentation", edit.documentation);
    for (const Setting& option : edit.options) {
      json["options"].push_back(Json::object({{"name", option.name}, {"value", option.value}}));
    }
    if (edit.item) {
      json["item"] = Json::object({{"name", edit.item->name}, {"type", edit.item->type}, {"list", edit.item->list}});
    }
    add_text(json, "statements", edit.statements);
    add_text(json, "next", edit.next);
    return json;
  }
  Json operator()(const Connect& edit) const {
    Json json = Json::object({{"op", "connect"}, {"agent", edit.agent}, {"block", edit.block}});
    add_edge(json, edit.edge);
    json["target"] = edit.target;
    return json;
  }
  Json operator()(const Disconnect& edit) const {
    Json json = Json::object({{"op", "disconnect"}, {"agent", edit.agent}, {"block", edit.block}});
    add_edge(json, edit.edge);
    add_text(json, "target", edit.target);
    return json;
  }
  Json operator()(const RenameBlock& edit) const {
    return Json::object({{"op", "rename"}, {"agent", edit.agent}, {"block", edit.block}, {"name", edit.name}});
  }
  Json operator()(const DeleteBlock& edit) const {
    return Json::object({{"op", "delete"}, {"agent", edit.agent}, {"block", edit.block}});
  }
  Json operator()(const SetOption& edit) const {
    Json json =
        Json::object({{"op", "set_option"}, {"agent", edit.agent}, {"block", edit.block}, {"option", edit.option}});
    add_text(json, "value", edit.value);
    return json;
  }
  Json operator()(const SetStatements& edit) const {
    return Json::object(
        {{"op", "set_statements"}, {"agent", edit.agent}, {"block", edit.block}, {"statements", edit.statements}});
  }
  Json operator()(const MoveBlock& edit) const {
    Json json = Json::object({{"op", "move"}, {"agent", edit.agent}, {"block", edit.block}});
    add_place(json, edit.place);
    return json;
  }
  Json operator()(const SetStart& edit) const {
    Json json = Json::object({{"op", "set_start"}, {"agent", edit.agent}});
    add_text(json, "block", edit.block);
    return json;
  }
  Json operator()(const SetNextTurn& edit) const {
    Json json = Json::object({{"op", "set_next_turn"}, {"agent", edit.agent}});
    add_text(json, "mode", edit.mode);
    return json;
  }
  Json operator()(const Replace& edit) const {
    return Json::object(
        {{"op", "replace"}, {"offset", edit.offset}, {"removed", edit.removed}, {"inserted", edit.inserted}});
  }
};

}  // namespace

Result<std::vector<Edit>, Refusal> read_edits(std::string_view text) {
  const auto json = parse_json(text);
  if (!json || !json->is_array()) return failure(Refusal{std::nullopt, "the edits: expected a JSON array"});
  if (json->size() > edit_count_max) {
    return failure(Refusal{std::nullopt, fmt::format("there are more than {} edits", edit_count_max)});
  }
  std::vector<Edit> edits;
  for (const Json& element : json->items()) {
    if (!element.is_object()) return failure(Refusal{edits.size(), "an edit is a JSON object with `op`"});
    Fields fields(element);
    Edit edit = read_edit(fields);
    if (std::string problem = fields.problem(); !problem.empty()) {
      return failure(Refusal{edits.size(), std::move(problem)});
    }
    edits.push_back(std::move(edit));
  }
  return edits;
}

std::string to_json(std::span<const Edit> edits) {
  Json json = Json::array();
  for (const Edit& edit : edits) json.push_back(std::visit(ToJson{}, edit));
  return json.dump(JsonForm::Pretty);
}

}  // namespace tenon::graph
