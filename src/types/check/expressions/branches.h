#pragma once

#include <optional>

#include "types/check/bodies/body_part.h"

namespace tenon::types {

/// Clauses of one `select`, and actions of a `pursue`, which are clauses of its choices: their indices and shapes have
/// to fit into one prompt and one schema.
inline constexpr std::size_t select_clauses_max = 256;

/// Checks expressions that run parts of themselves conditionally, repeatedly or in parallel.
class BranchChecker : public BodyPart {
 public:
  using BodyPart::BodyPart;

  TypeId check_if(NodeId node, Expectation expected);
  TypeId check_match(NodeId node, Expectation expected);
  TypeId check_select(NodeId node, Expectation expected);
  TypeId item_type(NodeId items, TypeId type);
  TypeId check_for(NodeId node, Expectation expected);
  TypeId check_parallel(NodeId node);
  TypeId check_catch(NodeId node, Expectation expected);
  TypeId check_finally(NodeId node, Expectation expected);
  TypeId check_shield(NodeId node, Expectation expected);

 private:
  /// Joins the type of one more branch; `joined` is absent before the first.
  void join_branch(NodeId branch, TypeId type, Expectation expected, std::optional<TypeId>& joined);
  TypeId check_body(NodeId node, Expectation expected);
  TypeId check_if_alone(NodeId node, NodeId body, Expectation expected);
};

}  // namespace tenon::types
