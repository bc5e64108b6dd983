#include "server/catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/ensure.h"
#include "diagnostics/nearest.h"
#include "inference/answers/schema_writer.h"
#include "json/reader.h"

namespace tenon::server {

namespace {

Json schema_of(const types::TypeTable& types, types::TypeId type, std::string_view documentation = {}) {
  using inference::answers::UnlimitedNumbers;
  return parse_own_json(inference::answers::make_schema(types, type, UnlimitedNumbers::All, documentation));
}

/// A request comes from a person, and not from the operator.
runtime::RunOptions of_persons(runtime::RunOptions options) {
  options.has_persons_arguments = true;
  return options;
}

}  // namespace

std::vector<std::size_t> CatalogEntry::given_parameters() const {
  std::vector<std::size_t> given;
  for (std::size_t at = 0; at < declared().parameters.size(); ++at) {
    if (image->program().types.base(declared().parameters[at]) != types::TypeTable::context) given.push_back(at);
  }
  return given;
}

bool CatalogEntry::takes_a_text() const {
  const auto given = given_parameters();
  if (given.size() != 1) return false;
  const types::TypeTable& types = image->program().types;
  const types::TypeKind kind = types.kind(types.base(declared().parameters[given.front()]));
  return kind == types::TypeKind::String || kind == types::TypeKind::Text;
}

runtime::RunStart CatalogEntry::make_start(const std::string& text) const {
  runtime::RunStart start = make_start();
  if (agent) {
    start.input = Json(text);
  } else {
    start.arguments.set(declared().parameter_names[given_parameters().front()], Json(text));
  }
  return start;
}

Json CatalogEntry::describe() const {
  const types::TypeTable& types = image->program().types;
  const auto schema_of_parameter = [&](std::size_t at) {
    const std::vector<std::string>& documentation = declared().parameter_documentation;
    return schema_of(types, declared().parameters[at],
                     documentation.empty() ? std::string_view() : std::string_view(documentation[at]));
  };
  Json properties = Json::object();
  Json required = Json::array();
  for (const std::size_t at : given_parameters()) {
    properties.set(declared().parameter_names[at], schema_of_parameter(at));
    if (types.kind(types.base(declared().parameters[at])) == types::TypeKind::Option) continue;
    required.push_back(declared().parameter_names[at]);
  }
  // An agent takes one input, a function an argument for each parameter.
  Json input = Json::object()
                   .set("type", "object")
                   .set("properties", std::move(properties))
                   .set("required", std::move(required))
                   .set("additionalProperties", false);
  if (agent && !given_parameters().empty()) {
    input = schema_of_parameter(given_parameters().front());
  }
  return Json::object()
      .set("name", name)
      .set("kind", agent ? "agent" : "function")
      .set("description", Json(agent ? image->program().agents[*agent].documentation : declared().documentation))
      .set("input", std::move(input))
      .set("output", schema_of(types, declared().result))
      .set("takes_text", takes_a_text());
}

void Catalog::add_program(const std::string& path, std::shared_ptr<const runtime::ProgramImage> image,
                          const runtime::RunOptions& options) {
  programs_.push_back({path, std::move(image), of_persons(options)});
  add_entries(programs_.back());
}

void Catalog::replace_program(const std::string& path, std::shared_ptr<const runtime::ProgramImage> image,
                              const runtime::RunOptions& options) {
  const auto found = std::ranges::find(programs_, path, &Served::path);
  ENSURE(found != programs_.end());
  *found = {path, std::move(image), of_persons(options)};
  entries_.clear();
  files_.clear();
  shared_names_.clear();
  for (const Served& served : programs_) add_entries(served);
}

void Catalog::add_entries(const Served& served) {
  const auto& [path, image, options] = served;
  const std::string file = std::filesystem::path(path).stem().string();
  const bytecode::Program& program = image->program();
  std::vector<std::uint32_t> inner;  // functions that belong to agents or are tools
  for (std::uint32_t at = 0; at < program.agents.size(); ++at) {
    const bytecode::Agent& agent = program.agents[at];
    inner.insert(inner.end(), {agent.turn, agent.initial_state, agent.instructions});
    if (agent.place.file == 0) add(file, {agent.name, image, agent.turn, at, options});
  }
  for (const bytecode::Tool& tool : program.tools) inner.push_back(tool.function);
  const auto is_set = [&](types::TypeId type) { return program.types.kind(type) == types::TypeKind::Tools; };
  for (std::uint32_t at = 0; at < program.functions.size(); ++at) {
    const bytecode::Function& function = program.functions[at];
    // A set of tools cannot be sent as JSON.
    if (is_set(function.result) || std::ranges::any_of(function.parameters, is_set)) continue;
    // Functions of the entry file that `find_function` finds by name: not the bodies of tests.
    if (function.place.file != 0 || runtime::find_function(program, function.name) != at) continue;
    const bool is_generic = function.name.find('<') != std::string::npos;
    const bool is_method = function.name.find("::") != std::string::npos;
    if (is_generic || is_method || function.agent != UINT32_MAX) continue;
    if (std::find(inner.begin(), inner.end(), at) != inner.end()) continue;
    add(file, {function.name, image, at, std::nullopt, options});
  }
}

void Catalog::add(const std::string& file, CatalogEntry entry) {
  const std::string plain = entry.name;
  bool is_shared = std::find(shared_names_.begin(), shared_names_.end(), plain) != shared_names_.end();
  if (const auto found = entries_.find(plain); found != entries_.end()) {
    auto moved = entries_.extract(found);
    moved.key() = files_[plain] + "." + plain;
    moved.mapped().name = moved.key();
    entries_.insert(std::move(moved));
    shared_names_.push_back(plain);
    is_shared = true;
  }
  if (is_shared) entry.name = file + "." + plain;
  files_[plain] = file;
  const std::string name = entry.name;
  entries_.insert_or_assign(name, std::move(entry));
}

const CatalogEntry* Catalog::find(std::string_view name) const {
  const auto found = entries_.find(name);
  return found == entries_.end() ? nullptr : &found->second;
}

std::string Catalog::nearest(std::string_view name) const {
  std::vector<std::string_view> names;
  for (const auto& [known, entry] : entries_) names.emplace_back(known);
  const auto found = diagnostics::find_nearest(name, names);
  return found ? std::string(*found) : std::string();
}

}  // namespace tenon::server
