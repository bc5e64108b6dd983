// Patterns test a value and bind its parts to variables.

#include "compiler/expression_compiler.h"
#include "compiler/pattern_compiler.h"

namespace tenon::compiler {

using types::TargetKind;
using types::TypeKind;

void PatternCompiler::pattern(NodeId node, Register value, std::vector<std::size_t>& fails) {
  const types::Target& target = facts(node).target;
  const auto require = [&](auto&& test) {
    const Temporaries scope(*this);
    const Register holds = allocate();
    test(holds);
    fails.push_back(emit_jump(Opcode::JumpUnless, holds));
  };
  const auto require_case = [&] {
    require([&](Register holds) {
      emit(Opcode::GetCase, holds, value);
      emit(Opcode::EqualShort, holds, holds, static_cast<std::uint16_t>(target.detail));
    });
  };
  switch (tree().kind(node)) {
    case NodeKind::NamePattern:
      if (target.kind == TargetKind::EnumCase) return require_case();  // None
      bind_pattern(target.index, value);
      return;
    case NodeKind::PathPattern: {
      require_case();
      std::uint16_t item = 0;
      for (NodeId part = tree().first(node); part.exists(); part = tree().next(part), ++item) {
        if (tree().kind(part) == NodeKind::WildcardPattern) continue;
        const Register payload = allocate();
        emit(Opcode::GetPayload, payload, value, item);
        pattern(part, payload, fails);
      }
      return;
    }
    case NodeKind::LiteralPattern: {
      const NodeId literal = tree().first(node);
      if (tree().kind(literal) != NodeKind::RangeExpression) {
        require([&](Register holds) {
          const Register wanted = allocate();
          into(literal, wanted);
          emit(Opcode::Equal, holds, value, wanted);
        });
        return;
      }
      const syntax::TokenIndex operation = tree()[literal].main_token;
      const bool inclusive = tree().tokens[operation].kind == TokenKind::DotDotEqual;
      for (NodeId side = tree().first(literal); side.exists(); side = tree().next(side)) {
        const bool is_low = tree()[side].first_token < operation;
        require([&](Register holds) {
          const Register bound = allocate();
          into(side, bound);
          expressions().compare(is_low      ? TokenKind::LessEqual
                                : inclusive ? TokenKind::GreaterEqual
                                            : TokenKind::Greater,
                                type_of(node), holds, bound, value);
        });
      }
      return;
    }
    case NodeKind::TuplePattern: {
      const std::vector<NodeId> parts = tree().children(node);
      if (parts.size() == 1 && kind_of(node) != TypeKind::Tuple) return pattern(parts[0], value, fails);
      for (std::size_t item = 0; item < parts.size(); ++item) {
        if (tree().kind(parts[item]) == NodeKind::WildcardPattern) continue;
        const Register field_value = allocate();
        emit(Opcode::GetField, field_value, value, static_cast<std::uint16_t>(item));
        pattern(parts[item], field_value, fails);
      }
      return;
    }
    case NodeKind::StructPattern:
      for (const NodeId part : tree().children(node, NodeKind::FieldPattern)) {
        const types::Target& position = facts(part).target;
        const Register field_value = allocate();
        emit(Opcode::GetField, field_value, value, static_cast<std::uint16_t>(position.index));
        if (const NodeId inner = tree().first(part); inner.exists()) {
          pattern(inner, field_value, fails);
        } else {
          bind_pattern(position.detail, field_value);
        }
      }
      return;
    case NodeKind::OrPattern: {
      std::vector<std::size_t> matched;
      const std::vector<NodeId> parts = tree().children(node);
      // Each alternative binds the same variables, which outlive it.
      const std::set<std::uint32_t> outside = shared_locals_;
      bind_all(parts.front());
      for (std::size_t part = 0; part < parts.size(); ++part) {
        const Temporaries scope(*this);
        const bool last = part + 1 == parts.size();
        std::vector<std::size_t> missed;
        pattern(parts[part], value, last ? fails : missed);
        if (!last) matched.push_back(emit_jump(Opcode::Jump));
        land_all(missed);
      }
      land_all(matched);
      shared_locals_ = outside;
      return;
    }
    default:
      return;  // the wildcard
  }
}

/// Gives every variable of a pattern its register, which all alternatives share.
void PatternCompiler::bind_all(NodeId node) {
  const types::Target& target = facts(node).target;
  const auto share = [&](std::uint32_t local) {
    if (shared_locals_.insert(local).second) bind_local(local);
  };
  if (tree().kind(node) == NodeKind::NamePattern && target.kind == TargetKind::Local) share(target.index);
  if (tree().kind(node) == NodeKind::FieldPattern && !tree().first(node).exists()) share(target.detail);
  for (NodeId part = tree().first(node); part.exists(); part = tree().next(part)) bind_all(part);
}

/// A pattern that is compiled a second time, as in a contract, gets its own registers.
void PatternCompiler::bind_pattern(std::uint32_t local, Register value) {
  emit(Opcode::Move, shared_locals_.contains(local) ? scope_.register_of(local) : bind_local(local), value);
}

void PatternCompiler::bind_to(NodeId node, Register value) {
  std::vector<std::size_t> fails;
  pattern(node, value, fails);
}

Register PatternCompiler::bind_local(std::uint32_t local) {
  const Register place = allocate();
  set_variable(local, place);
  return place;
}

}  // namespace tenon::compiler
