#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "types/check/bodies/body_result.h"
#include "types/check/bodies/names_in_scope.h"
#include "types/declarations/member_positions.h"
#include "types/declarations/program_index.h"
#include "types/declarations/type_resolver.h"

namespace tenon::types {

/// One function's body while it is checked: its variables in scope, what surrounds the node that is checked, and the
/// result so far.
class Body {
 public:
  Body(const ProgramIndex& index, FunctionId id, BodyResult& body_result);
  Body(const Body&) = delete;
  Body& operator=(const Body&) = delete;

  const ProgramIndex& index;
  const CheckedProgram& program;
  const FunctionDeclaration& function;
  const FunctionId id;
  const ModuleId module_id;
  const Module& module;
  BodyResult& result;
  TypeResolver resolver;

  NamesInScope scope;
  std::size_t branch_start = 0;  ///< locals of `scope` before it belong to the outside of a branch
  /// How many of these are around the node that is checked.
  struct Depth {
    std::size_t loops = 0, closures = 0, finally_blocks = 0;
    std::size_t guarded = 0;  ///< `try` and `catch`
  } depth;
  bool in_branch = false;
  bool in_script = false;
  syntax::NodeId action;          ///< of a `pursue`: the call, while it is checked
  syntax::NodeId iterated_range;  ///< the range that a `for` iterates over
  /// Set within a further alternative of an or-pattern: the names that the first one has bound.
  struct Alternative {
    std::vector<std::pair<std::string_view, LocalId>> names;
    std::vector<bool> bound;
  };
  Alternative* alternative = nullptr;
  std::optional<std::size_t> contract_scope;  ///< while a contract is checked: the size of the scope outside of it
  /// What is reported once for each body.
  struct Reported {
    std::set<std::string, std::less<>> unknown_names;
    bool missing_context = false;
    std::vector<source::Span> unreachable;  ///< code in which further warnings are left out
  } reported;

  [[nodiscard]] const syntax::SyntaxTree& tree() const { return *module.tree; }
  [[nodiscard]] NodeFacts& facts(syntax::NodeId node);
  [[nodiscard]] const NodeFacts& facts_of(syntax::NodeId node) const;
  [[nodiscard]] Local& local(LocalId local) { return result.locals[local.index]; }
  LocalId declare_local(std::string_view name, TypeId type, source::Span span);
  [[nodiscard]] std::optional<LocalId> find_local(std::string_view name) const { return scope.find(name); }
  /// For a message: a name that several modules declare has its module in front.
  [[nodiscard]] std::string describe(TypeId type) const {
    return result.types.describe_briefly(type, index.qualified_names());
  }
  /// As the type is written in this module: `shop::Order`.
  [[nodiscard]] std::string describe_as_code(TypeId type);
  /// The position of an enum's case, of a union's literal, or of a struct's field.
  [[nodiscard]] std::optional<std::uint32_t> find_member(TypeId type, std::string_view name);

  /// Variables that are declared during its lifetime go out of scope at its end.
  class Scope {
   public:
    explicit Scope(Body& body) : body_(body), size_(body.scope.size()) {}
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope() { body_.scope.shrink(size_); }

   private:
    Body& body_;
    std::size_t size_;
  };

  /// The inside of a parallel branch: outer variables can be read, not assigned; loops and the function cannot be left.
  class Branch {
   public:
    explicit Branch(Body& body)
        : body_(body), start_(body.branch_start), loops_(body.depth.loops), in_(body.in_branch) {
      body.branch_start = body.scope.size();
      body.depth.loops = 0;
      body.in_branch = true;
    }
    Branch(const Branch&) = delete;
    Branch& operator=(const Branch&) = delete;
    ~Branch() {
      body_.branch_start = start_;
      body_.depth.loops = loops_;
      body_.in_branch = in_;
    }

   private:
    Body& body_;
    std::size_t start_, loops_;
    bool in_;
  };

 private:
  MemberPositions own_members_;  ///< of types that the declarations do not have
};

/// The node whose descendants and itself are checked with the function's body; absent if the function has none.
[[nodiscard]] syntax::NodeId root_of_body(const CheckedProgram& program, const FunctionDeclaration& function);
/// The first of the nodes in the tree below `root`, which have consecutive ids with the root at the end.
[[nodiscard]] syntax::NodeId first_node_below(const syntax::SyntaxTree& tree, syntax::NodeId root);

}  // namespace tenon::types
