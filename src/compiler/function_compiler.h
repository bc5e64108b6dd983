#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "bytecode/program.h"
#include "diagnostics/diagnostic.h"
#include "syntax/literals.h"
#include "types/builtin_methods.h"
#include "types/checked_program.h"
#include "types/type_parts.h"

namespace tenon::compiler {

using bytecode::Agent;
using bytecode::Budget;
using bytecode::CallShape;
using bytecode::chosen_tool_values;
using bytecode::Clause;
using bytecode::Constant;
using bytecode::EntryRole;
using bytecode::Extern;
using bytecode::Function;
using bytecode::JumpTable;
using bytecode::no_function;
using bytecode::no_register;
using bytecode::Opcode;
using bytecode::Place;
using bytecode::Program;
using bytecode::registers_per_function_max;
using bytecode::ScriptedAnswer;
using bytecode::ScriptKind;
using bytecode::Site;
using bytecode::SiteKind;
using bytecode::TestCase;
using bytecode::Tool;

using Register = std::uint16_t;

/// Of the record `Failure`.
inline constexpr std::uint16_t failure_message_field = 1;

/// What of a function an instance is.
enum class Part : std::uint8_t {
  Whole,
  Guard,  ///< its `requires` alone: the tuple of why it cannot be called, of what has to be judged, and of the keys of
          ///< that (types/contract_words.h), each a list
  Ensured,      ///< of its arguments and its value: the keys of what a judge has found to hold of that
  StreamGuard,  ///< a Boolean: whether what the model has begun with may still become a value that it ensures
  Unguarded,    ///< the rest: who calls it has tried the guard
  Early,  ///< fails as the whole does, of what is computed of the arguments that are given before a model fills in
          ///< the missing ones; else ()
};

/// The positions of parameters that are missing in a call, ascending.
using Holes = std::vector<std::uint16_t>;

/// What the functions of one program share while it is compiled. Internal to this folder; others call `compile`.
class ProgramCompiler {
 public:
  ProgramCompiler(const types::CheckedProgram& checked, diagnostics::Diagnostics& diagnostics);
  Program run();

  /// The index of a function with its type arguments; it is compiled when its turn comes.
  std::uint32_t instance(types::FunctionId function, const std::vector<types::TypeId>& type_arguments);
  /// The same where the call says by which strategy its contract comes to hold.
  std::uint32_t instance(types::FunctionId function, const std::vector<types::TypeId>& type_arguments,
                         const types::Strategy& strategy, Part part = Part::Whole, const Holes& holes = {});
  /// The index of an extern with its type arguments.
  std::uint32_t extern_instance(types::ExternId callee, const std::vector<types::TypeId>& type_arguments);
  std::uint32_t constant(Constant value);
  std::uint32_t add_site(Site site);
  std::uint32_t add_jump_table(JumpTable table);
  std::uint32_t add_budget(Budget budget);
  /// A function that no declaration stands for.
  std::uint32_t add_function(Function function);
  std::uint32_t add_tool(Tool tool);
  /// A type as an operand of 16 bits.
  std::uint16_t type_operand(types::TypeId type);
  types::TypeId substitute(types::TypeId type, std::span<const types::TypeId> parameters,
                           std::span<const types::TypeId> arguments);
  Place place(const types::Module& module, syntax::NodeId node, bool main_token = false) const;

  [[nodiscard]] const types::CheckedProgram& checked() const { return checked_; }
  types::TypeTable& type_table() { return program_.types; }
  diagnostics::Diagnostics& diagnostics() { return diagnostics_; }
  Program& program() { return program_; }

 private:
  /// What a function is compiled for: the same source gives several.
  struct InstanceKey {
    types::FunctionId function;
    std::vector<types::TypeId> type_arguments;
    types::Strategy strategy;
    Part part = Part::Whole;
    Holes holes = {};  ///< of Early
    friend auto operator<=>(const InstanceKey&, const InstanceKey&) = default;
  };
  struct Instance {
    InstanceKey what;
    std::optional<Function> made;  ///< without a declaration
  };
  void compile_test(types::FunctionId test);
  void add_script(TestCase& test, const types::Module& module, syntax::NodeId entry, bool is_model);

  const types::CheckedProgram& checked_;
  diagnostics::Diagnostics& diagnostics_;
  Program program_;
  std::vector<Instance> instances_;
  std::map<InstanceKey, std::uint32_t> instance_index_;
  std::map<std::pair<std::uint32_t, std::vector<types::TypeId>>, std::uint32_t> extern_index_;
  std::unordered_map<std::uint32_t, std::size_t> instance_counts_;  ///< of generic functions
  std::unordered_map<std::string, std::uint32_t> constant_index_;
};

/// Whether an agent begins with its first state, or with what was kept of it.
enum class FirstState : bool { Always, UnlessKept };

/// One function's code. Registers: parameters, then variables and intermediate values as a stack.
class FunctionCompiler {
 public:
  FunctionCompiler(ProgramCompiler& program, types::FunctionId function, std::span<const types::TypeId> type_arguments,
                   const types::Strategy& strategy, Part part, Holes holes);
  Function run();

 private:
  using NodeId = syntax::NodeId;
  using NodeKind = syntax::NodeKind;
  using TokenKind = syntax::TokenKind;
  struct Loop {
    std::vector<std::size_t> breaks, continues;
  };
  /// A `finally` around what is compiled, which `return`, `break` and `continue` leave by way of its block.
  struct Finally {
    Register how = 0;               ///< an integer, what comes behind the block: compile_finally.cpp
    Register value = 0;             ///< that is returned
    std::optional<Register> state;  ///< the agent's, before it leaves the turn; behind it: whether it has left it
    std::size_t loops = 0;          ///< around it
    bool has_return = false, has_handoff = false, has_break = false, has_continue = false;
    std::vector<std::size_t> jumps;  ///< to its block
  };
  /// Where a value is looked for and changed: a variable, then fields and items inside of it.
  struct Step {
    bool is_field = false;
    bool is_map = false;
    std::uint16_t field = 0;
    Register index = 0;
  };
  /// A variable or a part of one, whose indices have been evaluated, each once.
  struct Lvalue {
    NodeId node;
    bool is_state = false;
    Register root = 0;  ///< of the variable; of an agent's state, a copy
    std::vector<Step> steps;
  };
  class Temporaries;
  /// Lists of texts, why contracts do not hold.
  struct Reasons {
    Register all = 0;
    std::optional<Register> told = {};   ///< those that the model may know of: not of a `check`
    std::optional<Register> which = {};  ///< the first contract that is broken, by its place in the head; -1: none yet
  };

  // compile_function.cpp: code, registers, constants
  std::size_t emit(Opcode opcode, std::uint16_t a = 0, std::uint16_t b = 0, std::uint16_t c = 0);
  std::size_t emit_wide(Opcode opcode, std::uint16_t a, std::uint32_t wide);
  std::size_t emit_jump(Opcode opcode, Register condition = 0) { return emit_wide(opcode, condition, 0); }
  void land(std::size_t jump);
  void land_at(std::size_t jump, std::size_t target);
  void land_all(const std::vector<std::size_t>& jumps);
  [[nodiscard]] std::size_t here() const { return function_.code.size(); }
  Register allocate(std::size_t count = 1);
  /// Registers in a row for a call whose result goes to `to`: from `to` on when no register behind it is taken, so that
  /// the result lands there. `to` must not be a variable that the arguments may read, see `into_variable`.
  Register allocate_window(Register to, std::size_t count);
  void at(NodeId node, bool main_token = false);
  void load_string(Register to, std::string text);
  void load_integer(Register to, std::int64_t value);
  void add_handler(std::size_t begin, std::size_t end, std::size_t target, Register failure);
  Register local_register(std::uint32_t local);
  Register bind_local(std::uint32_t local);
  [[nodiscard]] types::TypeId type_of(NodeId node);
  [[nodiscard]] types::TypeId resolve(types::TypeId type);
  [[nodiscard]] types::TypeKind kind_of(NodeId node);
  [[nodiscard]] types::TypeKind base_kind(types::TypeId type);
  [[nodiscard]] const types::NodeFacts& facts(NodeId node) const { return module_.facts_of(node); }
  [[nodiscard]] const syntax::SyntaxTree& tree() const { return *module_.tree; }
  void narrow(NodeId node, Register value);
  [[nodiscard]] bool is_state(NodeId name) const;
  // compile_agents.cpp
  void initial_state();
  void instructions();
  void return_instructions();
  void agent_run();
  void take_over();
  void handoff(NodeId node, NodeId input);
  void prepare_turn(Register context, Register input, FirstState first);
  /// `name`: of the other agent, or of the function. `values`: what goes with it, as text.
  void emit_notification(types::BuiltinEffect call, const std::string& name, std::initializer_list<Register> values);
  /// Values of this kind refer to nothing: one that is left behind in a register keeps no object alive.
  [[nodiscard]] static bool is_plain(types::TypeKind kind);
  [[nodiscard]] bool changes_variables(NodeId node) const;
  void list_changed(NodeId node, std::set<std::uint32_t>& locals) const;
  void shelter_arguments(NodeId body);
  void bind_arguments();
  /// This function, as it is being compiled.
  std::uint32_t own_instance();

  // compile_contracts.cpp
  [[nodiscard]] bool has_contract(bool of_value) const;
  void try_contracts(std::optional<Register> value, const Reasons& reasons);
  void name_contract(const types::Contract& contract, NodeId condition, Register to);
  void explain_broken(const types::Contract& contract, NodeId condition, Register to);
  [[nodiscard]] bool is_literal_number(NodeId node) const;
  void list_conditions(NodeId node, std::vector<NodeId>& conditions) const;
  void compute_contracts(std::optional<Register> value, const Reasons& reasons);
  void guard();
  void ensured();
  void key_of_contract(const types::Contract& contract, Register text, Register to);
  void early();
  void check_early(NodeId node, const CallShape& shape, Register window);
  void stream_guard();
  void list_lasting(NodeId condition, types::LocalId value, std::vector<NodeId>& parts) const;
  [[nodiscard]] bool is_lasting(NodeId condition, types::LocalId value) const;
  [[nodiscard]] std::vector<NodeId> lasting_parts(const types::Contract& contract) const;
  [[nodiscard]] bool speaks_of(NodeId node, types::LocalId local) const;
  [[nodiscard]] bool has_stream_guard() const;
  [[nodiscard]] std::size_t jump_if_broken(Register reasons);
  void compute_text(const types::Contract& contract, Register to, const Reasons& reasons);
  void judge_contracts(std::optional<Register> value, const Reasons& reasons);
  void ask_judge(std::optional<Register> value, Register requirements, Register window, std::size_t count,
                 bool may_be_fewer);
  Register compare_short(Opcode comparison, Register integer, std::uint16_t number);
  void check_requirements();
  void check_value(Register value);
  [[nodiscard]] std::string broken_requires() const;
  void add_reason(const Reasons& reasons, const types::Contract& contract, Register reason);
  void note_first(const Reasons& reasons, const types::Contract& contract);
  void fail_if_broken(const Reasons& reasons, const std::string& whose, Opcode failing = Opcode::BreakContract);
  void join_reasons(Register reasons, const std::string& separator, Register to);
  void break_contract(Register message, const Reasons& reasons, Opcode failing = Opcode::BreakContract);
  void report_refusal(Register broken, Register answer, const std::string& name);
  void extern_call();
  /// Ends the function with the value, or with () when it has none.
  void return_value(std::optional<Register> value);

  /// A tool that calls nothing: that it is chosen is all. The model sees name, documentation and signature. Gives its
  /// index.
  std::uint32_t add_choice(CallShape shown, Place place);

  // compile_requirements.cpp
  void inject_requirements();
  void text_before_value(const types::Contract& contract, Register to);
  void list_terms(NodeId node, std::vector<NodeId>& terms);
  void show_term(NodeId term, Register to);
  void describe_subject(std::optional<Register> value, Register to);
  [[nodiscard]] bool is_plain_text(NodeId node) const;
  [[nodiscard]] std::optional<std::size_t> jump_if_empty(NodeId node, Register text);
  [[nodiscard]] std::string line_of(NodeId node) const;
  [[nodiscard]] std::string code_of(NodeId node) const;
  void or_code(std::size_t begin, NodeId node, Register to);
  [[nodiscard]] bool can_show_before_value(NodeId text) const;

  // compile_pursue.cpp
  struct Action;
  struct Chase;
  void pursue(NodeId node, Register to);
  std::vector<Action> actions_of(NodeId node);
  void describe_action(Action& action, const std::string& name);
  std::uint32_t action_part(const Action& action, Part part);
  void find_enabled(const Chase& chase, Register enabled);
  void choose_action(const Chase& chase, Register enabled, Register chosen);
  void take_action(const Chase& chase, const Action& action);
  void load_known(const Chase& chase, std::uint32_t tag);
  Register is_goal(const Chase& chase, const Action* by);
  std::vector<std::size_t> walk(const Chase& chase);
  void describe_action_failure(const Action& action, Register caught, Register to);
  void switch_over_actions(const Chase& chase, Register chosen, const std::function<void(const Action&)>& write);
  // compile_search.cpp
  std::vector<std::size_t> search(const Chase& chase);
  void list_steps(const Chase& chase, Register states, Register work);
  void try_steps(const Chase& chase, Register work);
  void list_found(const Chase& chase, Register results, Register visited, Register found,
                  std::vector<std::size_t>& reached);
  void make_visited(Register state_class, Register value, Register to);
  std::uint32_t pursuit_function(const std::string& name);
  types::TypeId pursuit_type(const std::string& name);

  // compile_strategies.cpp
  std::uint32_t completion_site(bool is_sampled);
  void complete_by_contract();
  void complete_by_attempts();
  void complete_by_candidates();
  void raise_if_all_failed(Register candidates);
  void say_unjudged(Register caught, Register broken);
  void judge_winner(Register winner, Register candidates);
  void rank_candidates(Register candidates, Register best, Register best_rank);

  // compile_statements.cpp
  void block(NodeId node, std::optional<Register> to);
  void statement(NodeId node);
  void let(NodeId node);
  void while_loop(NodeId node);
  /// Jumps that are taken when the condition does not hold.
  std::vector<std::size_t> condition(NodeId node);
  void inject(NodeId value);
  void complete();

  // compile_assertions.cpp
  /// The operands of a comparison; a small literal on the right has no register.
  struct Sides {
    Register left = 0;
    std::optional<Register> right;
  };
  /// A value that the message of a failed `assert` shows, and the code that it is of.
  struct Shown {
    NodeId node;
    std::optional<Register> value;  ///< if absent, it is computed again
  };
  struct Observed {
    std::optional<Sides> sides;  ///< if the condition is a comparison: of `node`
    NodeId node;
    std::vector<Shown> shown;
  };
  void assertion(NodeId condition);
  Observed observe(NodeId condition, Register to, bool expected);
  Observed observe_logic(NodeId condition, Register to, bool expected);
  Observed observe_method(NodeId call, Register to);
  void add_argument_paths(NodeId call, std::vector<Shown>& shown);
  void explain_assertion(NodeId condition, const Observed& observed);
  [[nodiscard]] bool is_worth_showing(NodeId node);
  [[nodiscard]] bool is_path(NodeId node) const;

  // compile_places.cpp
  void assignment(NodeId node);
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
  /// A method that changes its receiver and gives (). False, and nothing done, when it is none.
  bool unit_method(NodeId node, NodeId receiver_node, std::span<const NodeId> arguments);
  void builtin_method(NodeId node, Register receiver, NodeId receiver_node, std::span<const NodeId> arguments,
                      Register to);

  // compile_expressions.cpp
  void into(NodeId node, Register to);
  void value_into(NodeId node, Register to);
  /// The same where `to` is a variable, whose old value the node may read.
  void into_variable(NodeId node, Register to);
  /// A register that holds the value: a variable's own, or a new one.
  Register operand(NodeId node);
  /// An operand that nothing evaluated later can change.
  Register stable_operand(NodeId node, NodeId later);
  void drop(NodeId node);
  void name(NodeId node, Register to);
  void unary(NodeId node, Register to);
  void binary(NodeId node, Register to);
  void arithmetic(NodeId node, TokenKind operation, types::TypeId type, Register to, Register left, Register right);
  void compare(TokenKind operation, types::TypeId type, Register to, Register left, Register right);
  Sides comparison(NodeId node, Register to);
  std::optional<Register> short_operation(NodeId node, TokenKind operation, types::TypeId type, Register to);
  [[nodiscard]] std::optional<std::int64_t> literal_integer(NodeId node) const;
  void logic(NodeId node, Register to);
  void default_value(NodeId node, Register to);
  void cast(NodeId node, Register to);
  void field(NodeId node, Register to);
  void index(NodeId node, Register to);
  void list(NodeId node, Register to);
  void tuple(NodeId node, Register to);
  void structure(NodeId node, Register to);
  void make_some(Register to);
  /// The jump that is taken when `option` is None; else `option` holds what was inside.
  std::size_t open_option(Register option);

  // compile_templates.cpp
  void string(NodeId node, Register to);
  [[nodiscard]] bool is_section(const syntax::StringPart& part) const;
  void join_parts(std::span<const syntax::StringPart> parts, Register to);
  void append_parts(NodeId owner, const syntax::TemplateParts& all, Register text);
  void append_if(NodeId node, const syntax::TemplateParts& all, Register text);

  // compile_filling.cpp
  [[nodiscard]] std::string documentation_of(const types::Target& target, const CallShape& shape) const;
  [[nodiscard]] types::FunctionId contract_holder(NodeId call) const;
  /// An answer that may be asked for again.
  struct Refill {
    Register before = 0;    ///< the context as it was
    Register attempt = 0;   ///< counts from 1
    Register answer = 0;    ///< the key of the answer's request
    std::size_t start = 0;  ///< where it is asked for
  };
  [[nodiscard]] bool may_refuse(NodeId call, const CallShape& shape) const;
  Refill begin_refill();
  void fill(NodeId node, Site site, Register window, std::uint16_t budgets);
  void restore_on_failure(const Refill& refill, std::size_t end, std::uint16_t budgets);
  void hold_arguments(NodeId call, const CallShape& shape, Register window, const Refill& refill,
                      const std::string& prefix, const std::string& suffix);
  void inject_refusal(Register answer, Register reasons);
  void inject_reasons(Register reasons);

  // compile_calls.cpp
  struct BudgetedCall {
    NodeId node;
    std::optional<std::uint32_t> budget;  ///< index into Program::budgets
  };
  BudgetedCall take_limits(NodeId node);
  [[nodiscard]] const types::Strategy& strategy_of(NodeId call, types::FunctionId callee) const;
  void within_budget(std::optional<std::uint32_t> budget, const std::function<void()>& write);
  void call(NodeId node, Register to, std::optional<std::uint32_t> budget);
  void method_call(NodeId node, Register to, std::optional<std::uint32_t> budget);
  /// The arguments go to the window from `offset` on; what is before them stands there already.
  void declared_call(NodeId node, std::span<const NodeId> arguments, Register window, std::size_t offset, Register to,
                     std::optional<std::uint32_t> budget);
  void emit_call(NodeId node, Register window);
  /// Returns the window of its arguments, the receiver first.
  Register builtin_call(NodeId node, types::Builtin builtin, std::optional<Register> receiver,
                        std::span<const NodeId> arguments, Register to);
  void read_json(NodeId node, Register text, Register to);
  void closure_loop(NodeId node, types::BuiltinMethod method, Register receiver, std::span<const NodeId> arguments,
                    Register to);
  void map_from(NodeId argument, Register to);
  CallShape call_shape(NodeId node, std::span<const NodeId> arguments);
  /// Tells of a type argument that makes the model's task impossible.
  void expect_answerable(NodeId node, const std::string& name, types::TypeId type,
                         types::Answerer answerer = types::Answerer::Model);
  std::uint32_t budget_of(NodeId clause);

  // compile_tools.cpp
  void tools(NodeId node, Register to);
  void tool(NodeId entry, Register to);
  void chosen_tool(NodeId spread, Register chosen, Register to);

  // compile_control.cpp
  void if_expression(NodeId node, std::optional<Register> to);
  void match(NodeId node, std::optional<Register> to);
  void select(NodeId node, std::optional<Register> to);
  void for_loop(NodeId node, std::optional<Register> to);
  /// A loop over the second child of `node`, whose items the first one names.
  void loop_over(NodeId node, const std::function<void()>& body);
  void parallel(NodeId node, std::optional<Register> to);
  void parallel_for(NodeId node, std::optional<Register> to);
  void try_expression(NodeId node, Register to);
  void catch_expression(NodeId node, std::optional<Register> to);

  // compile_finally.cpp
  void finally_expression(NodeId node, std::optional<Register> to);
  void finally_block(NodeId node, const Finally& left);
  void leave_finally(const Finally& left);
  bool return_by_finally(std::optional<Register> value);
  void return_handoff(Register value);
  void keep_state();
  void leave_loop(NodeKind kind);
  [[nodiscard]] bool has_handoff(NodeId node) const;
  void body(NodeId node, std::optional<Register> to);
  void pattern(NodeId node, Register value, std::vector<std::size_t>& fails);
  void bind_to(NodeId node, Register value);
  void bind_all(NodeId node);
  void bind_pattern(std::uint32_t local, Register value);

  ProgramCompiler& program_;
  const types::FunctionDeclaration& declaration_;
  const types::Module& module_;
  types::FunctionId id_;
  std::vector<types::TypeId> type_arguments_;
  types::Strategy strategy_;
  Part part_;
  Holes holes_;                                                         ///< of Early
  std::unordered_map<std::uint32_t, types::Strategy> call_strategies_;  ///< by the call's node
  std::vector<std::size_t> returns_;        ///< jumps to where the value is held against the contract
  std::optional<Register> returned_value_;  ///< what is held against it
  Function function_;
  std::unordered_map<std::uint32_t, Register> locals_;
  std::set<std::uint32_t> shared_locals_;  ///< of the alternatives `a | b` that are being compiled
  std::vector<Loop> loops_;
  std::vector<Finally> finallies_;  ///< outermost first
  std::uint32_t next_ = 0;
  std::uint32_t first_local_ = 0;
  std::uint16_t budget_depth_ = 0;
  Place place_;
  bool too_large_ = false;
};

/// Registers that are taken within one scope of the compiler are free behind it.
class FunctionCompiler::Temporaries {
 public:
  explicit Temporaries(FunctionCompiler& compiler) : compiler_(compiler), next_(compiler.next_) {}
  Temporaries(const Temporaries&) = delete;
  Temporaries& operator=(const Temporaries&) = delete;
  ~Temporaries() { compiler_.next_ = next_; }

 private:
  FunctionCompiler& compiler_;
  std::uint32_t next_;
};

}  // namespace tenon::compiler
