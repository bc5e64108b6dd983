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
  std::optional<Section> optional_section() {
    const auto name = optional_text("section");
    if (!name) return std::nullopt;
    if (*name == "state") return Section::State;
    if (*name != "scratchpad") complain(fmt::format("`{}` is not a section: expected state or scratchpad", *name));
    return Section::Scratchpad;
  }
  Section section() {
    const auto found = optional_section();
    if (!found) complain("`section` is missing");
    return found.value_or(Section::State);
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

constexpr std::array<std::string_view, 25> ops = {
    "add",          "connect",         "disconnect",         "rename",
    "delete",       "set_option",      "set_statements",     "move",
    "set_start",    "set_next_turn",   "add_field",          "set_field",
    "rename_field", "remove_field",    "set_instructions",   "set_documentation",
    "add_branch",   "rename_branch",   "remove_branch",      "move_edge",
    "set_item",     "add_declaration", "rename_declaration", "remove_declaration",
    "replace"};

/// Edits of entries of an agent; nothing for another edit.
std::optional<Edit> read_field_edit(std::string_view op, const std::string& agent, Fields& fields) {
  if (op == "add_field") {
    const Section section = fields.section();
    Setting field{fields.text("name"), fields.text("type"), fields.text("value"),
                  fields.text_or_nothing("documentation")};
    return AddField{agent, section, std::move(field), fields.optional_text("after")};
  }
  if (op == "set_field") {
    const Section section = fields.section();
    return SetField{agent, section, fields.text("field"), fields.optional_text("type"), fields.optional_text("value")};
  }
  if (op == "rename_field") {
    const Section section = fields.section();
    return RenameField{agent, section, fields.text("field"), fields.text("name")};
  }
  if (op == "remove_field") {
    const Section section = fields.section();
    return RemoveField{agent, section, fields.text("field")};
  }
  return std::nullopt;
}

/// Edits of what a file or an agent declares; nothing for another edit.
std::optional<Edit> read_declaration_edit(std::string_view op, Fields& fields) {
  if (op == "set_documentation") {
    SetDocumentation edit{fields.optional_text("agent"),       fields.optional_text("block"), std::nullopt, "",
                          fields.optional_text("declaration"), fields.text_or_nothing("text")};
    edit.section = fields.optional_section();
    if (edit.section) edit.field = fields.text("field");
    return edit;
  }
  if (op == "add_declaration") {
    auto agent = fields.optional_text("agent");
    return AddDeclaration{std::move(agent), fields.text("source"), fields.optional_text("after")};
  }
  if (op == "rename_declaration") {
    auto agent = fields.optional_text("agent");
    return RenameDeclaration{std::move(agent), fields.text("declaration"), fields.text("name")};
  }
  if (op == "remove_declaration") {
    auto agent = fields.optional_text("agent");
    return RemoveDeclaration{std::move(agent), fields.text("declaration")};
  }
  return std::nullopt;
}

/// Edits of branches, ways and items; nothing for another edit.
std::optional<Edit> read_way_edit(std::string_view op, const std::string& agent, const std::string& block,
                                  Fields& fields) {
  if (op == "add_branch") return AddBranch{agent, block, fields.text("branch")};
  if (op == "rename_branch") {
    const std::string branch = fields.text("branch");
    return RenameBranch{agent, block, branch, fields.text("name")};
  }
  if (op == "remove_branch") return RemoveBranch{agent, block, fields.text("branch")};
  if (op == "move_edge") {
    const EdgeKey edge = fields.edge();
    return MoveEdge{agent, block, edge, fields.optional_text("target"), fields.number("position")};
  }
  if (op == "set_item") {
    const auto item = fields.item();
    if (!item) fields.complain("`item` is missing");
    return SetItem{agent, block, item.value_or(Item{})};
  }
  return std::nullopt;
}

Edit read_edit(Fields& fields) {
  const std::string op = fields.text("op");
  if (std::find(ops.begin(), ops.end(), op) == ops.end()) {
    fields.complain(fmt::format("unknown edit `{}`: expected {} or {}", op, fmt::join(ops.begin(), ops.end() - 1, ", "),
                                ops.back()));
    return DeleteBlock{};
  }
  if (op == "replace") return Replace{fields.number("offset"), fields.text("removed"), fields.text("inserted")};
  if (auto edit = read_declaration_edit(op, fields)) return std::move(*edit);
  const std::string agent = fields.text("agent");
  if (auto edit = read_field_edit(op, agent, fields)) return std::move(*edit);
  if (op == "set_instructions") return SetInstructions{agent, fields.text_or_nothing("statements")};
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
  if (auto edit = read_way_edit(op, agent, block, fields)) return std::move(*edit);
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

Json field_json(std::string_view op, const std::string& agent, Section section) {
  return Json::object({{"op", op}, {"agent", agent}, {"section", name_of(section)}});
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
  Json operator()(const AddField& edit) const {
    Json json = field_json("add_field", edit.agent, edit.section);
    json["name"] = edit.field.name;
    json["type"] = edit.field.type;
    json["value"] = edit.field.value;
    add_text(json, "documentation", edit.field.documentation);
    add_text(json, "after", edit.after);
    return json;
  }
  Json operator()(const SetField& edit) const {
    Json json = field_json("set_field", edit.agent, edit.section);
    json["field"] = edit.field;
    add_text(json, "type", edit.type);
    add_text(json, "value", edit.value);
    return json;
  }
  Json operator()(const RenameField& edit) const {
    Json json = field_json("rename_field", edit.agent, edit.section);
    json["field"] = edit.field;
    json["name"] = edit.name;
    return json;
  }
  Json operator()(const RemoveField& edit) const {
    Json json = field_json("remove_field", edit.agent, edit.section);
    json["field"] = edit.field;
    return json;
  }
  Json operator()(const SetInstructions& edit) const {
    return Json::object({{"op", "set_instructions"}, {"agent", edit.agent}, {"statements", edit.statements}});
  }
  Json operator()(const SetDocumentation& edit) const {
    Json json = Json::object({{"op", "set_documentation"}});
    add_text(json, "agent", edit.agent);
    add_text(json, "block", edit.block);
    if (edit.section) json["section"] = name_of(*edit.section);
    if (edit.section) json["field"] = edit.field;
    add_text(json, "declaration", edit.declaration);
    json["text"] = edit.text;
    return json;
  }
  Json operator()(const AddBranch& edit) const {
    return Json::object({{"op", "add_branch"}, {"agent", edit.agent}, {"block", edit.block}, {"branch", edit.branch}});
  }
  Json operator()(const RenameBranch& edit) const {
    return Json::object({{"op", "rename_branch"},
                         {"agent", edit.agent},
                         {"block", edit.block},
                         {"branch", edit.branch},
                         {"name", edit.name}});
  }
  Json operator()(const RemoveBranch& edit) const {
    return Json::object(
        {{"op", "remove_branch"}, {"agent", edit.agent}, {"block", edit.block}, {"branch", edit.branch}});
  }
  Json operator()(const MoveEdge& edit) const {
    Json json = Json::object({{"op", "move_edge"}, {"agent", edit.agent}, {"block", edit.block}});
    add_edge(json, edit.edge);
    add_text(json, "target", edit.target);
    json["position"] = edit.position;
    return json;
  }
  Json operator()(const SetItem& edit) const {
    return Json::object(
        {{"op", "set_item"},
         {"agent", edit.agent},
         {"block", edit.block},
         {"item", Json::object({{"name", edit.item.name}, {"type", edit.item.type}, {"list", edit.item.list}})}});
  }
  Json operator()(const AddDeclaration& edit) const {
    Json json = Json::object({{"op", "add_declaration"}, {"source", edit.source}});
    add_text(json, "agent", edit.agent);
    add_text(json, "after", edit.after);
    return json;
  }
  Json operator()(const RenameDeclaration& edit) const {
    Json json = Json::object({{"op", "rename_declaration"}, {"declaration", edit.declaration}, {"name", edit.name}});
    add_text(json, "agent", edit.agent);
    return json;
  }
  Json operator()(const RemoveDeclaration& edit) const {
    Json json = Json::object({{"op", "remove_declaration"}, {"declaration", edit.declaration}});
    add_text(json, "agent", edit.agent);
    return json;
  }
  Json operator()(const Replace& edit) const {
    return Json::object(
        {{"op", "replace"}, {"offset", edit.offset}, {"removed", edit.removed}, {"inserted", edit.inserted}});
  }
};

}  // namespace

std::span<const std::string_view> edit_names() {
  return ops;
}

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
