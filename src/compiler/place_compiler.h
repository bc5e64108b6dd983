#pragma once

#include <span>
#include <vector>

#include "compiler/code_builder.h"

namespace tenon::compiler {

/// How a value inside a variable is found: the fields and items that lead to it.
struct Step {
  bool is_field = false;
  bool is_map = false;
  std::uint16_t field = 0;
  Register index = 0;
};

/// A variable or a part of one, whose indices have been evaluated, each once.
struct Lvalue {
  syntax::NodeId node;
  bool is_state = false;
  Register root = 0;  ///< of the variable; of an agent's state, a copy
  std::vector<Step> steps;
};

/// In-place changes of variables: assignments, and the built-in methods, some of which modify their receiver.
class PlaceCompiler : CodeBuilder {
 public:
  using CodeBuilder::CodeBuilder;

  /// A statement that assigns a variable or a part of one.
  void assignment(NodeId node);
  /// A method that changes its receiver and returns (). For any other method, writes nothing and returns false.
  bool unit_method(NodeId node, NodeId receiver_node, std::span<const NodeId> arguments);
  /// to = the value of a built-in method without a Builtin of its own.
  void builtin_method(NodeId node, Register receiver, NodeId receiver_node, std::span<const NodeId> arguments,
                      Register to);

 private:
  bool append_assignment(NodeId place, NodeId value);
  Lvalue lvalue_of(NodeId node);
  void read_place(const Lvalue& place, Register to);
  template <class Change>
  void change_place(const Lvalue& place, const Change& change);
  template <class Change>
  void change_receiver(const Lvalue& place, const Change& change);
  void set_place(const Lvalue& place, Register value);
  Register apart_from(const Lvalue& place, Register value);
  void get_step(Register to, Register from, const Step& step);
  void take_step(Register to, Register from, const Step& step);
  void put_step(Register into, Register value, const Step& step);
};

}  // namespace tenon::compiler
