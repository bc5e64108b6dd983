#pragma once

#include "types/checked_program.h"

namespace tenon::types {

/// Replaces the ids in a node's facts, when they move to another program or to another place of it. `map` has a
/// function for each sort of id: `map.type(TypeId)`, `map.local(LocalId)`, `map.function(FunctionId)` and
/// `map.native(ExternId)`; each returns the new id.
template <class Map>
void map_facts(NodeFacts& facts, const syntax::SyntaxTree& tree, syntax::NodeId node, Map& map) {
  facts.type = map.type(facts.type);
  facts.narrowed_to = map.type(facts.narrowed_to);
  for (TypeId& argument : facts.type_arguments) argument = map.type(argument);
  Target& target = facts.target;
  switch (target.kind) {
    case TargetKind::Local:
      target.index = map.local(LocalId{target.index}).index;
      break;
    case TargetKind::Function:
      target.index = map.function(FunctionId{target.index}).index;
      break;
    case TargetKind::Extern:
      target.index = map.native(ExternId{target.index}).index;
      break;
    case TargetKind::Conversion:
    case TargetKind::ReadJson:
      target.index = map.type(TypeId{target.index}).index;
      break;
    case TargetKind::EnumCase:
      // Of Option and Result the type is not named, which is 0.
      if (target.index != 0) target.index = map.type(TypeId{target.index}).index;
      break;
    case TargetKind::Field: {
      // `Point { x }` in an expression or in a pattern: `detail` is the variable.
      const bool may_be_short =
          tree.kind(node) == syntax::NodeKind::FieldInitializer || tree.kind(node) == syntax::NodeKind::FieldPattern;
      if (may_be_short && !tree.first(node).exists()) target.detail = map.local(LocalId{target.detail}).index;
      break;
    }
    case TargetKind::None:
    case TargetKind::Builtin:
    case TargetKind::Method:
    case TargetKind::NewContext:
    case TargetKind::NewMap:
    case TargetKind::MapFrom:
    case TargetKind::NewList:
    case TargetKind::Fail:
    case TargetKind::Endorse:
      break;
  }
}

}  // namespace tenon::types
