#include "types/check/bodies/body_keys.h"

#include <bit>
#include <cctype>
#include <vector>

#include "types/check/bodies/body.h"
#include "types/table/type_parts.h"

namespace tenon::types {
namespace {

/// Mixes numbers and texts into 64 bits. It is compared within one process only.
class Mixer {
 public:
  Mixer& add(std::uint64_t number) {
    state_ = (state_ ^ number) * 0x9E3779B97F4A7C15ULL;
    state_ ^= state_ >> 29U;
    return *this;
  }
  Mixer& add(std::string_view text) { return add(std::hash<std::string_view>{}(text)).add(text.size()); }
  [[nodiscard]] std::uint64_t get() const { return state_; }

 private:
  std::uint64_t state_ = 0x243F6A8885A308D3ULL;
};

std::uint64_t hash_of_bound(const Bound& bound) {
  Mixer mixer;
  mixer.add(bound.index());
  if (const auto* number = std::get_if<std::int64_t>(&bound)) mixer.add(static_cast<std::uint64_t>(*number));
  if (const auto* number = std::get_if<double>(&bound)) mixer.add(std::bit_cast<std::uint64_t>(*number));
  return mixer.get();
}

std::uint64_t hash_of_refinement(const Refinement& refinement) {
  const auto optional = [](const auto& value) { return value ? Mixer().add(*value).get() : 0; };
  return Mixer()
      .add(refinement.name)
      .add(hash_of_bound(refinement.low))
      .add(hash_of_bound(refinement.high))
      .add(refinement.high_is_exclusive ? 1 : 0)
      .add(optional(refinement.length_low))
      .add(optional(refinement.length_high))
      .add(optional(refinement.pattern))
      .add(refinement.documentation)
      .get();
}

std::uint64_t hash_of_union(const UnionType& value) {
  Mixer mixer;
  mixer.add(value.name).add(value.literals.index()).add(value.documentation);
  for (const std::string& words : value.literal_documentation) mixer.add(words);
  if (const auto* texts = std::get_if<std::vector<std::string>>(&value.literals)) {
    for (const std::string& text : *texts) mixer.add(text);
  } else {
    for (const std::int64_t number : std::get<std::vector<std::int64_t>>(value.literals)) {
      mixer.add(static_cast<std::uint64_t>(number));
    }
  }
  return mixer.get();
}

/// The name by which a function is called: without its type or agent.
std::string_view short_name(const std::string& name) {
  const std::size_t colon = name.rfind(':');
  return colon == std::string::npos ? std::string_view(name) : std::string_view(name).substr(colon + 1);
}

/// The hash of the tokens and the tree of a body, which does not depend on their position in the file.
std::uint64_t hash_of_tree(const syntax::SyntaxTree& tree, syntax::NodeId root) {
  Mixer mixer;
  const syntax::Node& whole = tree[root];
  const bool is_lowered = !tree.anchors.empty();
  if (!is_lowered) mixer.add(tree.text(root));
  for (syntax::TokenIndex at = whole.first_token; at < whole.end_token; ++at) {
    mixer.add(static_cast<std::uint64_t>(tree.tokens[at].kind));
    if (is_lowered) mixer.add(tree.text(at));
    // In a lowered tree, tokens have places in any order.
    if (is_lowered) mixer.add(tree.span(at).offset - tree.span(whole.first_token).offset).add(tree.span(at).length);
  }
  const std::uint32_t first = first_node_below(tree, root).index;
  const auto relative = [&](syntax::NodeId node) { return node.exists() ? node.index - first : UINT32_MAX; };
  for (std::uint32_t at = first; at <= root.index; ++at) {
    const syntax::Node& node = tree.nodes[at];
    mixer.add(static_cast<std::uint64_t>(node.kind))
        .add(node.first_token - whole.first_token)
        .add(node.end_token - whole.first_token)
        .add(node.main_token - whole.first_token)
        .add(relative(node.first_child));
    if (at != root.index) mixer.add(relative(node.next_sibling));
  }
  return mixer.get();
}

}  // namespace

BodyKeys::BodyKeys(const ProgramIndex& index) : index_(index), program_(index.program()) {
  Mixer names;
  for (const Module& module : program_.modules) {
    names.add(module.file->path());
    for (const auto& [name, type] : module.type_names) declared_names_[type] = module.file->path() + "::" + name;
  }
  for (const Module& module : program_.modules) {
    // Every use of a name looks it up in its own module first, so a name means what it means in all modules together.
    const std::string& path = module.file->path();
    for (const auto* const types : {&module.type_names, &module.aliases}) {
      for (const auto& [name, type] : *types) add_meaning(name, Mixer().add(path).add(hash_of_type(type)).get());
    }
    for (const auto& [name, imported] : module.imports) {
      const std::string& from = program_.modules[imported.module.index].file->path();
      add_meaning(name, Mixer().add(path).add(from).add(imported.name).add(imported.is_module ? 1 : 0).get());
    }
  }
  for (const FunctionDeclaration& function : program_.functions) {
    if (!function.is_test) add_meaning(short_name(function.name), hash_of_signature(function));
  }
  for (const ExternDeclaration& native : program_.externs) {
    Mixer mixer;
    mixer.add(native.name).add(native.documentation).add(static_cast<std::uint64_t>(native.builtin_effect));
    if (native.module.exists()) mixer.add(program_.modules[native.module.index].file->path());
    for (const Parameter& parameter : native.parameters)
      mixer.add(parameter.name).add(parameter.documentation).add(hash_of_type(parameter.type));
    add_meaning(native.name, mixer.add(hash_of_type(native.result)).get());
  }
  for (const AgentDeclaration& agent : program_.agents) {
    add_meaning(agent.name, Mixer().add(agent.run.exists() ? 1 : 0).add(hash_of_type(agent.state)).get());
  }
  std::uint64_t all_names = 0;  // their order does not matter
  for (const auto& [name, meaning] : meanings_) all_names += Mixer().add(name).get();
  for (const auto& [type, name] : index.qualified_names()) all_names += Mixer().add(name).get();
  // An unknown name may be a case, and the enum is suggested.
  for (const Module& module : program_.modules) {
    for (const auto& [name, type] : module.type_names) {
      if (program_.types.kind(type) != TypeKind::Enum) continue;
      for (const Variant& variant : program_.types.enum_type(type).variants) {
        all_names += Mixer().add(name).add(variant.name).get();
      }
    }
  }
  names_ = names.add(all_names).get();
  environment_ = Mixer()
                     .add(static_cast<std::uint64_t>(index.strictness()))
                     .add(program_.judge.exists() ? hash_of_type(program_.verdict) : 0)
                     .add(program_.pursuit_module.exists() ? 1 : 0)
                     .get();
}

void BodyKeys::add_meaning(std::string_view name, std::uint64_t meaning) {
  std::uint64_t& all = meanings_[std::string(name)];
  all = Mixer().add(all).add(meaning).get();
}

std::uint64_t BodyKeys::hash_of_name(TypeId type) {
  const TypeTable& types = program_.types;
  const Type& of = types.get(type);
  Mixer mixer;
  mixer.add(static_cast<std::uint64_t>(of.kind)).add(of.name);
  if (const auto declared = declared_names_.find(type); declared != declared_names_.end()) mixer.add(declared->second);
  if (of.kind == TypeKind::Union) mixer.add(hash_of_union(types.union_type(type)));
  if (of.kind == TypeKind::Refined) mixer.add(hash_of_refinement(types.refinement(type)));
  for_each_part(types, type, TypeParts::AsWritten, [&](TypeId part) { mixer.add(hash_of_name(part)); });
  return mixer.get();
}

std::uint64_t BodyKeys::hash_of_declaration(TypeId type) {
  Mixer mixer;
  if (program_.types.kind(type) == TypeKind::Struct) {
    for (const Field& field : program_.types.struct_type(type).fields) {
      mixer.add(field.name).add(hash_of_name(field.type));
    }
  } else {
    for (const Variant& variant : program_.types.enum_type(type).variants) {
      mixer.add(variant.name).add(variant.payload.size());
      for (const TypeId part : variant.payload) mixer.add(hash_of_name(part));
    }
  }
  return mixer.get();
}

std::uint64_t BodyKeys::hash_of_type(TypeId type) {
  if (const auto known = type_hashes_.find(type); known != type_hashes_.end()) return known->second;
  const auto is_declaration = [&](TypeId part) {
    const TypeKind kind = program_.types.kind(part);
    return kind == TypeKind::Struct || kind == TypeKind::Enum;
  };
  Mixer mixer;
  mixer.add(hash_of_name(type));
  if (is_declaration(type)) {
    for_each_within(program_.types, type, TypeParts::OfValues, [&](TypeId part) {
      if (is_declaration(part)) mixer.add(hash_of_name(part)).add(hash_of_declaration(part));
    });
  } else {
    for_each_part(program_.types, type, TypeParts::AsWritten, [&](TypeId part) { mixer.add(hash_of_type(part)); });
  }
  return type_hashes_.emplace(type, mixer.get()).first->second;
}

std::uint64_t BodyKeys::hash_of_signature(const FunctionDeclaration& function) {
  Mixer mixer;
  mixer.add(static_cast<std::uint64_t>(function.role))
      .add(program_.modules[function.module.index].file->path())
      .add(function.name)
      .add(function.documentation)
      .add(function.is_test ? 1 : 0)
      .add(function.own_context.value_or(SIZE_MAX));
  for (const std::string& parameter : function.type_parameters) mixer.add(parameter);
  for (const Parameter& parameter : function.parameters)
    mixer.add(parameter.name).add(parameter.documentation).add(hash_of_type(parameter.type));
  mixer.add(hash_of_type(function.result));
  if (!function.agent.exists()) return mixer.get();
  const AgentDeclaration& agent = program_.agents[function.agent.index];
  const bool is_turn = agent.turn.exists() && &program_.functions[agent.turn.index] == &function;
  return mixer.add(agent.name).add(is_turn ? 1 : 0).add(hash_of_type(agent.state)).get();
}

BodyKey BodyKeys::key_of(FunctionId id) {
  const FunctionDeclaration& function = program_.functions[id.index];
  const syntax::SyntaxTree& tree = *program_.modules[function.module.index].tree;
  Mixer mixer;
  mixer.add(environment_).add(hash_of_signature(function));
  if (const syntax::NodeId root = root_of_body(program_, function); root.exists()) {
    mixer.add(hash_of_tree(tree, root));
    for (syntax::TokenIndex at = tree[root].first_token; at < tree[root].end_token; ++at) {
      const std::string_view name = tree.text(at);
      if (name.empty()) continue;
      const bool is_word = std::isalpha(static_cast<unsigned char>(name[0])) != 0 || name[0] == '_';
      if (!is_word) continue;
      const auto meaning = meanings_.find(name);
      mixer.add(meaning == meanings_.end() ? 0 : meaning->second).add(index_.is_tool_name(name) ? 1 : 0);
    }
  }
  return {mixer.get(), names_};
}

}  // namespace tenon::types
