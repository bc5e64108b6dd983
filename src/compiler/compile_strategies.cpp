// How a model arrives at a value that satisfies the contract: by attempts one after the other, or by parallel answers.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "compiler/agent_compiler.h"
#include "compiler/call_compiler.h"
#include "compiler/completion_compiler.h"
#include "compiler/contract_compiler.h"
#include "compiler/exit_compiler.h"
#include "compiler/filling_compiler.h"
#include "compiler/guard_compiler.h"
#include "compiler/requirement_compiler.h"
#include "diagnostics/kinds.h"
#include "types/table/type_parts.h"

namespace tenon::compiler {

void CompletionCompiler::complete() {
  emitter_.set_place(function_.place);
  calls().expect_answerable(declaration_.node, function_.name, function_.result);
  const Register value = allocate();
  emit_wide(Opcode::Complete, value, completion_site(scope_.strategy.kind == types::Strategy::Kind::Vote));
  emit_return(value);
}

using types::Strategy;
using types::TypeId;

using types::TypeTable;

namespace {

/// The fields of a candidate: the value, why it is refused, the first contract that it violates, the key of the request
/// that it answers, whether the request failed, and the failure.
constexpr std::uint16_t candidate_value = 0;
constexpr std::uint16_t candidate_reasons = 1;
constexpr std::uint16_t candidate_which = 2;
constexpr std::uint16_t candidate_answer = 3;
constexpr std::uint16_t candidate_has_failed = 4;
constexpr std::uint16_t candidate_failure = 5;
constexpr std::uint16_t candidate_fields = 6;

}  // namespace

std::uint32_t CompletionCompiler::completion_site(bool is_sampled) {
  Site site;
  site.kind = SiteKind::Completion;
  site.place = function_.place;
  site.function = scope_.own_instance();
  site.result = function_.result;
  site.is_sampled = is_sampled;
  site.is_judge = scope_.id == program_.checked().judge;
  site.is_attempt = exits().checks_returned() || (is_sampled && scope_.strategy.count > 1);
  if (declaration_.has_trusted_result) site.narrow_bits = bits_of_answer();
  if (guards().has_stream_guard())
    site.guard = program_.instance(scope_.id, scope_.type_arguments, scope_.strategy, Part::StreamGuard);
  return program_.add_site(std::move(site));
}

/// What a trusted answer may say of what the model saw. Of a type with too many values it could say anything.
std::uint32_t CompletionCompiler::bits_of_answer() {
  const std::optional<double> bits = types::information_of(program_.type_table(), function_.result);
  if (bits) return static_cast<std::uint32_t>(std::ceil(*bits));
  if (!program_.diagnostics().has_errors()) {
    program_.diagnostics()
        .report(diagnostics::AnswerNotNarrow, tree().main_span(declaration_.node), declaration_.name,
                program_.type_table().describe(function_.result))
        .hint("let it be a choice: `-> trusted \"yes\" | \"no\"`, a `Boolean`, an `enum`, or an `i32 in 0..=9`")
        .hint("or let a person look at what the model says: `approve(value, \"Is this right?\")`");
  }
  return 0;
}

void CompletionCompiler::complete_by_contract() {
  emitter_.set_place(function_.place);
  calls().expect_answerable(declaration_.node, function_.name, function_.result);
  shown_contracts().inject_requirements();
  switch (scope_.strategy.kind) {
    case Strategy::Kind::Repair:
    case Strategy::Kind::Converse:
    case Strategy::Kind::Reject:
      return complete_by_attempts();
    case Strategy::Kind::Vote:
    case Strategy::Kind::BestOf:
      return complete_by_candidates();
  }
}

void CompletionCompiler::complete_by_attempts() {
  const Temporaries scope(*this);
  const std::uint32_t site = completion_site(scope_.strategy.kind == Strategy::Kind::Reject);
  const Register context = function_.context_register;
  const Register before = allocate();  // what the model saw first
  emit(Opcode::Move, before, context);
  const Register attempt = allocate();
  load_integer(attempt, 1);
  const Register log = allocate();
  load_string(log, "");
  const Register value = allocate();
  const Register broken = allocate();
  const Register shown = allocate();
  const Register last = allocate();  // the answer that was refused before, from the second on
  const std::size_t start = here();
  emit_wide(Opcode::Complete, value, site);
  const std::size_t answered = here();
  const Register answer = allocate();
  emit(Opcode::RequestKey, answer);
  const Reasons reasons_of{.all = broken, .shown = shown, .which = allocate()};
  contracts().try_contracts(value, reasons_of);
  const Register length = allocate();
  emit(Opcode::Length, length, broken);
  const Register holds = allocate();
  emit(Opcode::EqualShort, holds, length, 0);
  const std::size_t again = emit_jump(Opcode::JumpUnless, holds);
  emit_return(value);
  land(again);
  const Register parts = allocate(5);
  const auto part = [&](std::size_t at) { return static_cast<Register>(parts + at); };
  const Register reasons = allocate();
  contracts().join_reasons(broken, "; ", reasons);
  agents().emit_notification(types::BuiltinEffect::AnswerRefused, declaration_.name, {reasons, answer});
  load_string(part(0), "\n  attempt ");
  emit(Opcode::Move, part(1), attempt);
  load_string(part(2), ": ");
  emit(Opcode::Move, part(3), reasons);
  emit(Opcode::Template, parts, parts, 4);
  emit(Opcode::Append, log, parts);
  const Register more = allocate();
  emit(Opcode::LessEqualShort, more, attempt, static_cast<std::uint16_t>(scope_.strategy.count));
  const std::size_t retry = emit_jump(Opcode::JumpIf, more);
  load_string(part(0), fmt::format("`{}` did not satisfy `ensures` in ", declaration_.name));
  emit(Opcode::Move, part(1), attempt);
  load_string(part(2), scope_.strategy.count == 0 ? " attempt:" : " attempts:");
  emit(Opcode::Move, part(3), log);
  emit(Opcode::Template, parts, parts, 4);
  contracts().break_contract(parts, reasons_of);
  land(retry);
  std::optional<std::size_t> repeated;
  if (scope_.strategy.kind == Strategy::Kind::Repair) {
    emit(Opcode::Move, context, before);
    const Register is_so = allocate();
    emit(Opcode::EqualShort, is_so, attempt, 1);
    const std::size_t first = emit_jump(Opcode::JumpIf, is_so);
    emit(Opcode::Equal, is_so, value, last);
    repeated = emit_jump(Opcode::JumpIf, is_so);
    land(first);
    emit(Opcode::Move, last, value);
  }
  emit(Opcode::AddI64Short, attempt, attempt, 1);
  if (scope_.strategy.kind != Strategy::Kind::Reject) {
    const bool is_under_key = types::is_answered_under_key(program_.type_table(), function_.result);
    if (is_under_key) {
      load_string(part(0), "{\"value\":");
      emit(Opcode::Move, part(1), value);
      emit(Opcode::CallBuiltin, part(1), static_cast<std::uint16_t>(types::Builtin::ToJson), part(1));
      load_string(part(2), "}");
      emit(Opcode::Template, parts, parts, 3);
    }
    filling().inject_refusal(is_under_key ? parts : value, shown);
  }
  land_at(emit_jump(Opcode::Jump), start);
  if (!repeated) return;
  // A model that sees its answer and repeats it would repeat it again: it is asked without the answer, and sampled.
  land(*repeated);
  emit(Opcode::AddI64Short, attempt, attempt, 1);
  filling().inject_reasons(shown);
  emit_wide(Opcode::Complete, value, completion_site(true));
  land_at(emit_jump(Opcode::Jump), answered);
}

/// best = the best of a list of candidates. BestOf: the one with the fewest reasons, whose number is its rank. Vote:
/// one without reasons that has the most equal ones, whose number is its rank.
void CompletionCompiler::rank_candidates(Register candidates, Register best, Register best_rank) {
  const Temporaries scope(*this);
  const bool is_vote = scope_.strategy.kind == Strategy::Kind::Vote;
  emit(Opcode::LoadUnit, best);
  load_integer(best_rank, is_vote ? 0 : -1);
  const Register outer = allocate(3);
  emit(Opcode::Move, outer, candidates);
  load_integer(static_cast<Register>(outer + 1), 0);
  const std::size_t next = emit_jump(Opcode::ForList, outer);
  const auto candidate = static_cast<Register>(outer + 2);
  {
    const Temporaries loop_scope(*this);
    const Register rank = allocate();
    const Register better = allocate();
    const Register broken = allocate();
    emit(Opcode::GetField, broken, candidate, candidate_reasons);
    emit(Opcode::Length, rank, broken);
    if (is_vote) {
      emit(Opcode::EqualShort, better, rank, 0);
      land_at(emit_jump(Opcode::JumpUnless, better), next);
      load_integer(rank, 0);
      const Register value = allocate();
      emit(Opcode::GetField, value, candidate, 0);
      const Register inner = allocate(3);
      emit(Opcode::Move, inner, candidates);
      load_integer(static_cast<Register>(inner + 1), 0);
      const std::size_t other = emit_jump(Opcode::ForList, inner);
      const Register theirs = allocate();
      emit(Opcode::GetField, theirs, static_cast<Register>(inner + 2), 0);
      emit(Opcode::Equal, theirs, theirs, value);
      land_at(emit_jump(Opcode::JumpUnless, theirs), other);
      emit(Opcode::AddI64Short, rank, rank, 1);
      land_at(emit_jump(Opcode::Jump), other);
      land(other);
      emit(Opcode::LessInteger, better, best_rank, rank);
    } else {
      const Register is_first = allocate();
      emit(Opcode::EqualShort, is_first, best_rank, static_cast<std::uint16_t>(-1));
      emit(Opcode::LessInteger, better, rank, best_rank);
      const std::size_t take_first = emit_jump(Opcode::JumpIf, is_first);
      land_at(emit_jump(Opcode::JumpUnless, better), next);
      land(take_first);
      emit(Opcode::LoadBoolean, better, 1);
    }
    land_at(emit_jump(Opcode::JumpUnless, better), next);
    emit(Opcode::Move, best, candidate);
    emit(Opcode::Move, best_rank, rank);
  }
  land_at(emit_jump(Opcode::Jump), next);
  land(next);
}

/// If all candidates have failed, fails like the first one.
void CompletionCompiler::raise_if_all_failed(Register candidates) {
  const Temporaries scope(*this);
  const Register loop = allocate(3);
  emit(Opcode::Move, loop, candidates);
  load_integer(static_cast<Register>(loop + 1), 0);
  const std::size_t next = emit_jump(Opcode::ForList, loop);
  const Register item = allocate();
  emit(Opcode::GetField, item, static_cast<Register>(loop + 2), candidate_has_failed);
  const std::size_t answered = emit_jump(Opcode::JumpUnless, item);
  land_at(emit_jump(Opcode::Jump), next);
  land(next);
  load_integer(item, 0);
  emit(Opcode::GetItem, item, candidates, item);
  emit(Opcode::GetField, item, item, candidate_failure);
  emit(Opcode::Raise, item);
  land(answered);
}

/// broken = a list with the reason that the judge, not the answer, has failed: by `caught`.
void CompletionCompiler::say_unjudged(Register caught, Register broken) {
  const Temporaries scope(*this);
  const Register parts = allocate(2);
  load_string(parts, "it could not be judged: ");
  emit(Opcode::GetField, static_cast<Register>(parts + 1), caught, failure_message_field);
  emit(Opcode::Template, parts, parts, 2);
  emit(Opcode::MakeList, broken, parts, 1);
}

/// Judges the value that has won the vote, and returns it if it satisfies the contract. Otherwise all candidates with
/// that value are refused, so that another one can win: only winners are judged, and equal values once.
void CompletionCompiler::judge_winner(Register winner, Register candidates) {
  const Temporaries scope(*this);
  const Register value = allocate();
  emit(Opcode::GetField, value, winner, candidate_value);
  const Reasons reasons{.all = allocate(), .which = allocate()};
  emit(Opcode::MakeList, reasons.all, reasons.all, 0);
  load_integer(*reasons.which, -1);
  const Register has_failed = allocate();
  emit(Opcode::LoadBoolean, has_failed, 0);
  const Register caught = allocate();
  emit(Opcode::LoadUnit, caught);
  const std::size_t begin = here();
  contracts().judge_contracts(value, reasons);
  const std::size_t end = here();
  const std::size_t fails = contracts().jump_if_broken(reasons.all);
  emit_return(value);
  // A judge that fails neither accepts nor refuses the answer.
  add_handler(begin, end, here(), caught);
  say_unjudged(caught, reasons.all);
  emit(Opcode::LoadBoolean, has_failed, 1);
  land(fails);
  const Register kept = allocate();
  emit(Opcode::MakeList, kept, kept, 0);
  const Register loop = allocate(3);
  emit(Opcode::Move, loop, candidates);
  load_integer(static_cast<Register>(loop + 1), 0);
  const std::size_t next = emit_jump(Opcode::ForList, loop);
  const auto candidate = static_cast<Register>(loop + 2);
  const Register field = allocate();
  emit(Opcode::GetField, field, candidate, candidate_value);
  emit(Opcode::Equal, field, field, value);
  const std::size_t other = emit_jump(Opcode::JumpUnless, field);
  emit(Opcode::SetField, candidate, candidate_reasons, reasons.all);
  emit(Opcode::SetField, candidate, candidate_which, *reasons.which);
  emit(Opcode::SetField, candidate, candidate_has_failed, has_failed);
  emit(Opcode::SetField, candidate, candidate_failure, caught);
  emit(Opcode::GetField, field, candidate, candidate_answer);
  contracts().report_refusal(reasons.all, field, declaration_.name);
  land(other);
  emit(Opcode::Push, kept, candidate);
  land_at(emit_jump(Opcode::Jump), next);
  land(next);
  emit(Opcode::Take, candidates, kept);
}

/// Vote and BestOf: parallel answers, each with the conditions that it violates. A request that fails is a refused
/// answer; if a budget around all of them is spent, all end.
void CompletionCompiler::complete_by_candidates() {
  const Temporaries scope(*this);
  const bool is_vote = scope_.strategy.kind == Strategy::Kind::Vote;
  const bool is_judged =
      std::any_of(declaration_.contracts.begin(), declaration_.contracts.end(), [](const types::Contract& contract) {
        return contract.is_judged && contract.kind != types::ContractKind::Requires;
      });
  const Register window = allocate(3);
  collect_candidates(window, !is_vote && is_judged);
  const Register best = allocate();
  const Register best_rank = allocate();
  const std::size_t ranking = here();
  rank_candidates(window, best, best_rank);

  // Good enough: a value that has won the vote, or a best one that violates nothing.
  const Register good = allocate();
  if (is_vote) {
    emit(Opcode::GreaterShort, good, best_rank, 0);
  } else {
    emit(Opcode::EqualShort, good, best_rank, 0);
  }
  const std::size_t bad = emit_jump(Opcode::JumpUnless, good);
  if (is_vote && is_judged) {
    judge_winner(best, window);
    land_at(emit_jump(Opcode::Jump), ranking);
  } else {
    emit(Opcode::GetField, best, best, 0);
    emit_return(best);
  }
  land(bad);
  raise_if_all_failed(window);
  refuse_candidates(window);
}

/// window, three registers, = a list of candidates, which are requested in parallel.
void CompletionCompiler::collect_candidates(Register window, bool are_judged) {
  const std::uint32_t site = completion_site(true);
  TypeTable& types = program_.type_table();
  const TypeId candidate_type = types.tuple({function_.result, types.list(TypeTable::string), TypeTable::i64,
                                             TypeTable::string, TypeTable::boolean, TypeTable::failure});
  {
    const Temporaries list_scope(*this);
    const Register numbers = allocate(scope_.strategy.count);
    for (std::uint32_t at = 0; at < scope_.strategy.count; ++at) load_integer(static_cast<Register>(numbers + at), at);
    emit(Opcode::MakeList, window, numbers, static_cast<std::uint16_t>(scope_.strategy.count));
  }
  load_integer(static_cast<Register>(window + 1), scope_.strategy.count);
  const std::size_t branches = emit_jump(Opcode::ParallelFor, window);
  const std::size_t joined = emit_jump(Opcode::Jump);
  land(branches);
  {
    const Temporaries branch_scope(*this);
    const Register candidate = allocate(candidate_fields);
    const auto broken = static_cast<Register>(candidate + candidate_reasons);
    const auto which = static_cast<Register>(candidate + candidate_which);
    const auto answer = static_cast<Register>(candidate + candidate_answer);
    const auto has_failed = static_cast<Register>(candidate + candidate_has_failed);
    const auto caught = static_cast<Register>(candidate + candidate_failure);
    const std::size_t begin = here();
    const Reasons reasons{.all = broken, .which = which};
    emit_wide(Opcode::Complete, candidate, site);
    emit(Opcode::RequestKey, answer);
    contracts().compute_contracts(candidate, reasons);
    const std::size_t end = here();
    std::optional<std::size_t> unjudged;
    if (are_judged) {
      contracts().judge_contracts(candidate, reasons);
      const std::size_t judged_end = here();
      const std::size_t judged = emit_jump(Opcode::Jump);
      add_handler(end, judged_end, here(), caught);
      say_unjudged(caught, broken);
      contracts().report_refusal(broken, answer, declaration_.name);
      emit(Opcode::LoadBoolean, has_failed, 1);
      unjudged = emit_jump(Opcode::Jump);
      land(judged);
    }
    contracts().report_refusal(broken, answer, declaration_.name);
    emit(Opcode::LoadBoolean, has_failed, 0);
    emit(Opcode::LoadUnit, caught);
    const std::size_t answered = emit_jump(Opcode::Jump);
    add_handler(begin, end, here(), caught);
    emit(Opcode::LoadUnit, candidate);
    const Register message = allocate();
    emit(Opcode::GetField, message, caught, failure_message_field);
    emit(Opcode::MakeList, broken, message, 1);
    load_integer(which, -1);
    load_string(answer, "");
    emit(Opcode::LoadBoolean, has_failed, 1);
    land(answered);
    if (unjudged) land(*unjudged);
    emit(Opcode::MakeRecord, candidate, candidate, program_.type_operand(candidate_type));
    emit(Opcode::EndBranch, candidate);
  }
  land(joined);
}

/// Fails with everything that was violated, answer by answer. The blame is what the first answer that came violates.
void CompletionCompiler::refuse_candidates(Register candidates) {
  const Temporaries scope(*this);
  const Register log = allocate();
  load_string(log, "");
  const Reasons blamed{.all = allocate(), .which = allocate()};
  const Register is_found = allocate();
  emit(Opcode::LoadBoolean, is_found, 0);
  const Register outer = allocate(3);
  emit(Opcode::Move, outer, candidates);
  load_integer(static_cast<Register>(outer + 1), 0);
  const std::size_t line = emit_jump(Opcode::ForList, outer);
  const auto candidate = static_cast<Register>(outer + 2);
  {
    const Temporaries loop_scope(*this);
    const Register broken = allocate();
    emit(Opcode::GetField, broken, candidate, candidate_reasons);
    const Register parts = allocate(4);
    load_string(parts, "\n  answer ");
    emit(Opcode::Move, static_cast<Register>(parts + 1), static_cast<Register>(outer + 1));
    load_string(static_cast<Register>(parts + 2), ": ");
    contracts().join_reasons(broken, "; ", static_cast<Register>(parts + 3));
    emit(Opcode::Template, parts, parts, 4);
    emit(Opcode::Append, log, parts);
    land_at(emit_jump(Opcode::JumpIf, is_found), line);
    emit(Opcode::GetField, parts, candidate, candidate_has_failed);
    land_at(emit_jump(Opcode::JumpIf, parts), line);
    emit(Opcode::Move, blamed.all, broken);
    emit(Opcode::GetField, *blamed.which, candidate, candidate_which);
    emit(Opcode::LoadBoolean, is_found, 1);
  }
  land_at(emit_jump(Opcode::Jump), line);
  land(line);
  const Register parts = allocate(2);
  const std::string answers =
      scope_.strategy.count == 1 ? "the answer does not" : fmt::format("none of {} answers", scope_.strategy.count);
  load_string(parts, fmt::format("{} satisfy `ensures` of `{}`:", answers, declaration_.name));
  emit(Opcode::Move, static_cast<Register>(parts + 1), log);
  emit(Opcode::Template, parts, parts, 2);
  contracts().break_contract(parts, blamed);
  emit(Opcode::Unreachable);
}

}  // namespace tenon::compiler
