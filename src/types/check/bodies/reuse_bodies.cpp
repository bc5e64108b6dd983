#include "types/check/bodies/reuse_bodies.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "types/check/bodies/body.h"
#include "types/check/bodies/map_facts.h"

namespace tenon::types {
namespace {

using syntax::NodeId;

/// A function or extern by its module, its name and how many before it have the same: the key of what may be the same
/// one in two programs.
class Identities {
 public:
  explicit Identities(const CheckedProgram& program) : program_(program) {}

  std::string of(const FunctionDeclaration& function) {
    return next(fmt::format("{}\n{}\n{}{}", module_path(function.module), static_cast<int>(function.role),
                            function.is_test ? "test " : "", function.name));
  }
  std::string of(const ExternDeclaration& native) {
    return next(fmt::format("{}\nextern {}", module_path(native.module), native.name));
  }

 private:
  [[nodiscard]] std::string_view module_path(ModuleId module) const {
    return module.exists() ? std::string_view(program_.modules[module.index].file->path()) : std::string_view();
  }
  std::string next(std::string key) {
    const std::uint32_t count = ++counts_[key];
    return fmt::format("{}\n{}", key, count);
  }

  const CheckedProgram& program_;
  std::unordered_map<std::string, std::uint32_t> counts_;
};

/// The number of types at the start of both tables that are the same. Structs and enums are those that `same` names.
std::uint32_t count_equal(const TypeTable& before, const TypeTable& now, std::uint32_t limit, const SameTypes& same) {
  const auto is_equal = [&](TypeId type) {
    if (!(before.get(type) == now.get(type))) return false;
    switch (before.kind(type)) {
      case TypeKind::Struct:
      case TypeKind::Enum: {
        const auto found = same.find(type);
        return found == same.end() ? type.index <= TypeTable::failure.index : found->second == type;
      }
      case TypeKind::Union:
        return before.union_type(type) == now.union_type(type);
      case TypeKind::Refined:
        return before.refinement(type) == now.refinement(type);
      default:
        return true;
    }
  };
  std::uint32_t count = 0;
  while (count < limit && is_equal(TypeId{count})) ++count;
  return count;
}

/// From the ids of the earlier program to those of a body in the new one.
struct ToBody {
  TypeImport& types;
  std::uint32_t first_local;
  const std::vector<FunctionId>& functions;
  const std::vector<ExternId>& externs;
  bool is_complete = true;  ///< everything was found

  TypeId type(TypeId id) { return types(id); }
  [[nodiscard]] LocalId local(LocalId id) const { return id.exists() ? LocalId{id.index - first_local} : id; }
  FunctionId function(FunctionId id) {
    is_complete = is_complete && functions[id.index].exists();
    return functions[id.index];
  }
  ExternId native(ExternId id) {
    is_complete = is_complete && externs[id.index].exists();
    return externs[id.index];
  }
};

/// Moves nodes and spans of a body to its place in the new program. All tokens of a body with an equal key have moved
/// by the same distance.
class Relocation {
 public:
  Relocation(const Module& before, NodeId first_before, const Module& now, NodeId root)
      : file_(now.file->id()),
        nodes_(static_cast<std::int64_t>(first_node_below(*now.tree, root).index) - first_before.index) {
    const syntax::SyntaxTree& tree = *before.tree;
    const syntax::Node& root_before = tree[NodeId{static_cast<std::uint32_t>(root.index - nodes_)}];
    const source::Span first = tree.span(root_before.first_token);
    offset_ = static_cast<std::int64_t>(now.tree->span((*now.tree)[root].first_token).offset) - first.offset;
    begin_ = first.offset;
    end_ = tree.span(root_before.end_token - 1).end();
    if (tree.anchors.empty()) return;
    // In a lowered tree, tokens have places in any order.
    for (syntax::TokenIndex at = root_before.first_token; at < root_before.end_token; ++at) {
      const source::Span span = tree.span(at);
      begin_ = std::min(begin_, span.offset);
      end_ = std::max(end_, span.end());
    }
  }

  [[nodiscard]] NodeId node(NodeId id) const {
    return id.exists() ? NodeId{static_cast<std::uint32_t>(id.index + nodes_)} : id;
  }
  [[nodiscard]] std::uint32_t node(std::uint32_t index) const { return static_cast<std::uint32_t>(index + nodes_); }
  [[nodiscard]] source::Span span(source::Span span) const {
    span.file = file_;
    span.offset = static_cast<std::uint32_t>(span.offset + offset_);
    return span;
  }
  /// Whether the place moves with the body.
  [[nodiscard]] bool contains(const source::Span& span) const { return span.offset >= begin_ && span.end() <= end_; }

 private:
  source::FileId file_;
  std::int64_t nodes_;
  std::int64_t offset_ = 0;
  std::uint32_t begin_ = 0, end_ = 0;  ///< of the body's tokens in the earlier text
};

bool is_movable(const diagnostics::Diagnostic& diagnostic, const Relocation& place) {
  return place.contains(diagnostic.span) && (!diagnostic.fix || place.contains(diagnostic.fix->span)) &&
         std::all_of(diagnostic.labels.begin(), diagnostic.labels.end(),
                     [&](const diagnostics::Label& label) { return place.contains(label.span); });
}

}  // namespace

BodyReuse::BodyReuse(const CheckedProgram& before, const CheckedBodies& bodies, const ProgramIndex& index)
    : before_(before), bodies_(bodies), index_(index) {
  const CheckedProgram& now = index.program();
  std::unordered_map<std::string, FunctionId> functions;
  Identities identities(now);
  for (std::uint32_t at = 0; at < now.functions.size(); ++at) {
    functions.emplace(identities.of(now.functions[at]), FunctionId{at});
  }
  earlier_.resize(now.functions.size());
  Identities identities_before(before);
  for (std::uint32_t at = 0; at < before.functions.size(); ++at) {
    const auto found = functions.find(identities_before.of(before.functions[at]));
    functions_.push_back(found == functions.end() ? FunctionId{} : found->second);
    if (found != functions.end()) earlier_[found->second.index] = FunctionId{at};
  }
  std::unordered_map<std::string, ExternId> externs;
  for (std::uint32_t at = 0; at < now.externs.size(); ++at) {
    externs.emplace(identities.of(now.externs[at]), ExternId{at});
  }
  for (const ExternDeclaration& native : before.externs) {
    const auto found = externs.find(identities_before.of(native));
    externs_.push_back(found == externs.end() ? ExternId{} : found->second);
  }
  std::unordered_map<std::string_view, const Module*> modules;
  for (const Module& module : now.modules) modules.emplace(module.file->path(), &module);
  for (const Module& module : before.modules) {
    const auto same = modules.find(module.file->path());
    if (same == modules.end()) continue;
    for (const auto& [name, type] : module.type_names) {
      const auto found = same->second->type_names.find(name);
      if (found != same->second->type_names.end()) same_types_.emplace(type, found->second);
    }
  }
  equal_types_ =
      count_equal(before.types, now.types, std::min(bodies.declared.types, index.types().types), same_types_);
}

std::optional<BodyResult> BodyReuse::find(FunctionId id, const BodyKey& key) const {
  const CheckedProgram& now = index_.program();
  const FunctionDeclaration& function = now.functions[id.index];
  const FunctionId earlier = earlier_[id.index];
  const NodeId root = root_of_body(now, function);
  if (!earlier.exists() || !root.exists()) return std::nullopt;
  const CheckedBodies::Entry& entry = bodies_.entries[earlier.index];
  const FunctionDeclaration& function_before = before_.functions[earlier.index];
  const Module& module_before = before_.modules[function_before.module.index];
  const Module& module = now.modules[function.module.index];
  const bool has_diagnostics = !entry.body.diagnostics.all().empty();
  if (entry.key.body != key.body || entry.body.diagnostics.is_full()) return std::nullopt;
  if (has_diagnostics && entry.key.names != key.names) return std::nullopt;
  const Relocation place(module_before, entry.body.first_node, module, root);

  BodyResult result(TypeTable(now.types, index_.types()), diagnostics::diagnostics_per_file_max);
  for (diagnostics::Diagnostic diagnostic : entry.body.diagnostics.all()) {
    if (!is_movable(diagnostic, place)) return std::nullopt;
    diagnostic.span = place.span(diagnostic.span);
    if (diagnostic.fix) diagnostic.fix->span = place.span(diagnostic.fix->span);
    for (diagnostics::Label& label : diagnostic.labels) label.span = place.span(label.span);
    result.diagnostics.add(std::move(diagnostic));
  }
  TypeImport import(before_.types, result.types, equal_types_, &same_types_);
  // Every request again, so that new types are in the order of a check; known ones are not requested otherwise.
  for (const TypeId type : entry.body.requested) result.types.request(import(type));
  ToBody map{import, entry.body.first_local, functions_, externs_};
  result.first_node = place.node(entry.body.first_node);
  for (std::uint32_t at = 0; at < entry.body.node_count; ++at) {
    NodeFacts facts = module_before.facts[entry.body.first_node.index + at];
    map_facts(facts, *module.tree, NodeId{result.first_node.index + at}, map);
    result.facts.push_back(std::move(facts));
  }
  for (std::uint32_t at = 0; at < entry.body.local_count; ++at) {
    Local local = before_.locals[entry.body.first_local + at];
    local.type = import(local.type);
    local.function = id;
    local.span =
        local.is_agent_state ? module.tree->main_span(now.agents[function.agent.index].node) : place.span(local.span);
    result.locals.push_back(std::move(local));
  }
  for (Contract contract : function_before.contracts) {
    contract.expression = place.node(contract.expression);
    contract.words = place.node(contract.words);
    contract.result = map.local(contract.result);
    result.contracts.push_back(contract);
  }
  result.strategy = function_before.strategy;
  result.has_faulty_strategy = function_before.has_faulty_strategy;
  result.is_completed = function_before.is_completed;
  const auto is_inside = [&](std::uint32_t node) {
    return node >= entry.body.first_node.index && node < entry.body.first_node.index + entry.body.node_count;
  };
  for (const auto& [node, pursuit] : module_before.pursuits) {
    if (!is_inside(node)) continue;
    Pursuit& copy = result.pursuits[place.node(node)] = pursuit;
    copy.type = import(copy.type);
    for (NodeId& action : copy.actions) action = place.node(action);
  }
  for (const auto& [node, strategy] : module_before.strategies) {
    if (is_inside(node)) result.strategies.emplace(place.node(node), strategy);
  }
  for (const StrategicCall& call : entry.body.strategic_calls) {
    result.strategic_calls.push_back(
        {function.module, place.node(call.clause), map.function(call.callee), call.strategy});
  }
  for (const ContractCall& call : entry.body.contract_calls) {
    result.contract_calls.push_back({function.module, place.node(call.node), map.function(call.callee)});
  }
  return map.is_complete ? std::optional(std::move(result)) : std::nullopt;
}

}  // namespace tenon::types
