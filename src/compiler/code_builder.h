#pragma once

#include "compiler/emitter.h"
#include "compiler/function_scope.h"

namespace tenon::compiler {

class AgentCompiler;
class AssertionCompiler;
class CallCompiler;
class CompletionCompiler;
class ContractCompiler;
class ControlCompiler;
class ExitCompiler;
class ExpressionCompiler;
class FillingCompiler;
class FunctionCompiler;
class GuardCompiler;
class OuterContractCompiler;
class PatternCompiler;
class PlaceCompiler;
class PursueCompiler;
class RequirementCompiler;
class StatementCompiler;
class TemplateCompiler;
class ToolCompiler;

/// The base of the classes that write the code of one function: what they write to, what they know about the function,
/// and each other.
class CodeBuilder {
 public:
  explicit CodeBuilder(FunctionCompiler& compiler);
  CodeBuilder(const CodeBuilder&) = delete;
  CodeBuilder& operator=(const CodeBuilder&) = delete;

 protected:
  using NodeId = syntax::NodeId;
  using NodeKind = syntax::NodeKind;
  using TokenKind = syntax::TokenKind;
  struct Temporaries : Emitter::Temporaries {
    explicit Temporaries(const CodeBuilder& builder) : Emitter::Temporaries(builder.emitter_) {}
  };

  ~CodeBuilder() = default;

  // Forwarded to the emitter, which describes them.
  std::size_t emit(Opcode opcode, std::uint16_t a = 0, std::uint16_t b = 0, std::uint16_t c = 0) {
    return emitter_.emit(opcode, a, b, c);
  }
  std::size_t emit_wide(Opcode opcode, std::uint16_t a, std::uint32_t wide) {
    return emitter_.emit_wide(opcode, a, wide);
  }
  std::size_t emit_jump(Opcode opcode, Register condition = 0) { return emitter_.emit_wide(opcode, condition, 0); }
  /// Returns the value, once it is known to be trusted if the function says that it is.
  void emit_return(Register value);
  /// Fails unless what the register depends on is trusted. `what`: as a failure names it.
  void require_trusted(Register value, const std::string& what) {
    emit_wide(Opcode::RequireTrusted, value, program_.constant(what));
  }
  void land(std::size_t jump) { emitter_.land(jump); }
  void land_at(std::size_t jump, std::size_t target) { emitter_.land_at(jump, target); }
  void land_all(const std::vector<std::size_t>& jumps) { emitter_.land_all(jumps); }
  [[nodiscard]] std::size_t here() const { return emitter_.here(); }
  Register allocate(std::size_t count = 1) { return emitter_.allocate(count); }
  /// The variable has this register from here on.
  void set_variable(std::uint32_t local, Register at);
  void load_string(Register to, std::string text) { emitter_.load_string(to, std::move(text)); }
  void load_integer(Register to, std::int64_t value) { emitter_.load_integer(to, value); }
  void add_handler(std::size_t begin, std::size_t end, std::size_t target, Register failure) {
    emitter_.add_handler(begin, end, target, failure);
  }
  /// What follows is at the node's place in the source.
  void at(NodeId node, bool main_token = false);

  // Forwarded to the function's scope.
  [[nodiscard]] const syntax::SyntaxTree& tree() const { return scope_.tree(); }
  [[nodiscard]] const types::NodeFacts& facts(NodeId node) const { return scope_.facts(node); }
  [[nodiscard]] types::TypeId resolve(types::TypeId type) const { return scope_.resolve(type); }
  [[nodiscard]] types::TypeId type_of(NodeId node) const { return scope_.type_of(node); }
  [[nodiscard]] types::TypeKind kind_of(NodeId node) const { return scope_.kind_of(node); }

  // Forwarded to the expressions, which describe them.
  void into(NodeId node, Register to);
  Register operand(NodeId node);

  // The other classes.
  [[nodiscard]] AgentCompiler& agents() const;
  [[nodiscard]] AssertionCompiler& assertions() const;
  [[nodiscard]] CallCompiler& calls() const;
  [[nodiscard]] CompletionCompiler& completions() const;
  [[nodiscard]] ContractCompiler& contracts() const;
  [[nodiscard]] ControlCompiler& control() const;
  [[nodiscard]] ExitCompiler& exits() const;
  [[nodiscard]] ExpressionCompiler& expressions() const;
  [[nodiscard]] FillingCompiler& filling() const;
  [[nodiscard]] GuardCompiler& guards() const;
  [[nodiscard]] OuterContractCompiler& outer_contracts() const;
  [[nodiscard]] PatternCompiler& patterns() const;
  [[nodiscard]] PlaceCompiler& places() const;
  [[nodiscard]] PursueCompiler& pursuits() const;
  [[nodiscard]] RequirementCompiler& shown_contracts() const;
  [[nodiscard]] StatementCompiler& statements() const;
  [[nodiscard]] TemplateCompiler& templates() const;
  [[nodiscard]] ToolCompiler& tools() const;

  FunctionCompiler& compiler_;
  FunctionScope& scope_;
  Emitter& emitter_;
  ProgramCompiler& program_;
  const types::FunctionDeclaration& declaration_;
  const types::Module& module_;
  Function& function_;
};

}  // namespace tenon::compiler
