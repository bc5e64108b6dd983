#pragma once

#include <span>

#include "compiler/agent_compiler.h"
#include "compiler/assertion_compiler.h"
#include "compiler/body_compiler.h"
#include "compiler/call_compiler.h"
#include "compiler/completion_compiler.h"
#include "compiler/contract_compiler.h"
#include "compiler/control_compiler.h"
#include "compiler/exit_compiler.h"
#include "compiler/expression_compiler.h"
#include "compiler/filling_compiler.h"
#include "compiler/guard_compiler.h"
#include "compiler/outer_contract_compiler.h"
#include "compiler/pattern_compiler.h"
#include "compiler/place_compiler.h"
#include "compiler/pursue_compiler.h"
#include "compiler/requirement_compiler.h"
#include "compiler/statement_compiler.h"
#include "compiler/template_compiler.h"
#include "compiler/tool_compiler.h"

namespace tenon::compiler {

/// Compiles one function: what the classes that write its code share, and these classes.
class FunctionCompiler {
 public:
  FunctionCompiler(ProgramCompiler& program, types::FunctionId function, std::span<const types::TypeId> type_arguments,
                   const types::Strategy& strategy, Part part, Holes holes, OuterContract outer);
  FunctionCompiler(const FunctionCompiler&) = delete;
  FunctionCompiler& operator=(const FunctionCompiler&) = delete;

  Function run();

  FunctionScope scope;
  Emitter emitter;
  AgentCompiler agents{*this};
  AssertionCompiler assertions{*this};
  CallCompiler calls{*this};
  CompletionCompiler completions{*this};
  ContractCompiler contracts{*this};
  ControlCompiler control{*this};
  ExitCompiler exits{*this};
  ExpressionCompiler expressions{*this};
  FillingCompiler filling{*this};
  GuardCompiler guards{*this};
  OuterContractCompiler outer_contracts{*this};
  PatternCompiler patterns{*this};
  PlaceCompiler places{*this};
  PursueCompiler pursuits{*this};
  RequirementCompiler shown_contracts{*this};
  StatementCompiler statements{*this};
  TemplateCompiler templates{*this};
  ToolCompiler tools{*this};
  BodyCompiler bodies{*this};

 private:
  void describe_head();
  void compile_part();
};

}  // namespace tenon::compiler
