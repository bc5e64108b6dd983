#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "types/check/bodies/body.h"
#include "types/table/type_parts.h"

namespace tenon::types {

class BodyChecker;

/// What the context of an expression expects of it.
struct Expectation {
  enum class Kind : std::uint8_t {
    Any,      ///< a value of any type
    Nothing,  ///< the value is dropped
    Value,    ///< a value of `type`
    Body,     ///< as Value, but it may have no value at all: then the model supplies it
  };
  Kind kind = Kind::Any;
  TypeId type;

  static Expectation any() { return {}; }
  static Expectation nothing() { return {Kind::Nothing, TypeTable::unit}; }
  static Expectation value(TypeId type) { return {Kind::Value, type}; }
  static Expectation body(TypeId type) { return {Kind::Body, type}; }
  [[nodiscard]] bool has_type() const { return kind == Kind::Value || kind == Kind::Body; }
};

/// A part of the checker of one body. The parts call each other through the BodyChecker that they belong to; this is
/// what all of them need.
class BodyPart {
 public:
  explicit BodyPart(BodyChecker& checker);
  BodyPart(const BodyPart&) = delete;
  BodyPart& operator=(const BodyPart&) = delete;

 protected:
  ~BodyPart() = default;
  using NodeId = syntax::NodeId;
  using NodeKind = syntax::NodeKind;
  using TokenKind = syntax::TokenKind;
  using Scope = Body::Scope;
  using Branch = Body::Branch;

  [[nodiscard]] const syntax::SyntaxTree& tree() const { return body_.tree(); }
  [[nodiscard]] NodeFacts& facts(NodeId node) const { return body_.facts(node); }
  void record(NodeId node, TypeId type) const { body_.facts(node).type = type; }
  /// For a message: a name that several modules declare has its module in front.
  [[nodiscard]] std::string describe(TypeId type) const { return body_.describe(type); }
  /// As the type is written in this module: `shop::Order`.
  [[nodiscard]] std::string describe_as_code(TypeId type) const { return body_.describe_as_code(type); }
  [[nodiscard]] Local& local(LocalId id) const { return body_.local(id); }
  LocalId declare_local(std::string_view name, TypeId type, source::Span span) {
    return body_.declare_local(name, type, span);
  }
  [[nodiscard]] std::optional<LocalId> find_local(std::string_view name) const { return body_.find_local(name); }

  // See ExpressionChecker and Assignability.
  TypeId check_expression(NodeId node, Expectation expected);
  TypeId check_kind(NodeId node, Expectation expected);
  TypeId check_value(NodeId node, TypeId type);
  bool coerce(NodeId node, TypeId from, TypeId to);
  [[nodiscard]] bool is_assignable(TypeId from, TypeId to) const;
  [[nodiscard]] bool is_answerable(TypeId type, Answerer answerer = Answerer::Model) const;

  BodyChecker& checker_;
  Body& body_;
  const CheckedProgram& program_;
  const Module* module_;
  TypeTable& types_;
  diagnostics::Diagnostics& diagnostics_;
};

}  // namespace tenon::types
