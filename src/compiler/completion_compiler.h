#pragma once

#include "compiler/code_builder.h"

namespace tenon::compiler {

/// The value that a model supplies, and the strategies by which it satisfies a contract.
class CompletionCompiler : CodeBuilder {
 public:
  using CodeBuilder::CodeBuilder;

  /// The value of a function without a contract, as the model supplies it.
  void complete();
  /// The value that a model supplies, requested again until it satisfies the contract.
  void complete_by_contract();

 private:
  std::uint32_t completion_site(bool is_sampled);
  std::uint32_t bits_of_answer();
  void complete_by_attempts();
  void complete_by_candidates();
  void collect_candidates(Register window, bool are_judged);
  void refuse_candidates(Register candidates);
  void raise_if_all_failed(Register candidates);
  void say_unjudged(Register caught, Register broken);
  void judge_winner(Register winner, Register candidates);
  void rank_candidates(Register candidates, Register best, Register best_rank);
};

}  // namespace tenon::compiler
