// How a frame's code fails, and the regions that what it decides on opens.

#include <algorithm>
#include <span>

#include "base/ensure.h"
#include "bytecode/left_regions.h"
#include "flows/frame_analysis.h"

namespace tenon::flows {

using bytecode::Decision;
using bytecode::FinallyHandler;
using bytecode::Handler;

/// The order of vm::regions_at.
std::vector<FrameAnalysis::Cover> FrameAnalysis::covers_of(std::uint32_t strand, std::uint32_t pc) const {
  std::vector<Cover> covers;
  const std::uint32_t block_pc = strands_[strand].block_pc;
  const auto add = [&](std::uint32_t begin, std::uint32_t end, Cover::Kind kind, std::size_t index) {
    const auto holds = [&](std::uint32_t at) { return at >= begin && at < end; };
    if (holds(pc) && !(block_pc != none && holds(block_pc))) covers.push_back({kind, index, end - begin});
  };
  if (!function_.is_agent_run) {
    for (std::size_t at = 0; at < function_.handlers.size(); ++at) {
      add(function_.handlers[at].begin, function_.handlers[at].end, Cover::Kind::Handler, at);
    }
  }
  for (std::size_t at = 0; at < function_.finally_handlers.size(); ++at) {
    const FinallyHandler& cleanup = function_.finally_handlers[at];
    if (!is_shield(function_, cleanup)) add(cleanup.begin, cleanup.block + 1, Cover::Kind::Guard, at);
    add(cleanup.block + 1, cleanup.end, Cover::Kind::Running, at);
  }
  if (!function_.finally_handlers.empty()) std::ranges::stable_sort(covers, {}, &Cover::size);
  return covers;
}

/// `budget`: the place of the spent one among those of the frame, or one of the constants.
void FrameAnalysis::fail(std::uint32_t strand, std::uint32_t pc, const FrameState& state, Label label,
                         std::size_t budget) {
  label = labels_.join(label.possible(), control_of(strand, state).possible());
  if (!function_.handlers.empty() || !function_.finally_handlers.empty()) {
    for (const Cover& cover : covers_of(strand, pc)) {
      switch (cover.kind) {
        case Cover::Kind::Guard:
          return enter_cleanup(strand, pc, cover.index, state, label);
        case Cover::Kind::Running: {
          const ValueId kept = state.registers[function_.finally_handlers[cover.index].kept];
          label = labels_.join(label, values_.whole(kept).possible());
          break;
        }
        case Cover::Kind::Handler: {
          const std::size_t depth = function_.handlers[cover.index].budget_depth;
          const bool is_inside = budget == outer_budget || (budget != no_budget && depth > budget);
          if (!is_inside) return enter_handler(strand, pc, cover.index, state, label);
          break;
        }
      }
    }
  }
  if (budget == outer_budget) return;  // what is around the frame fails, whether or not it is called
  const std::uint32_t base = strands_[strand].base;
  bool is_changed = false;
  if (strands_[base].outer == none) {
    add_failure(summary_.failed, state, label, is_changed);
    return;
  }
  add_failure(strands_[base].failure, state, label, is_changed);
  if (is_changed) pending_.emplace(strands_[base].block_pc, strands_[base].outer);
}

void FrameAnalysis::add_failure(std::optional<CallFailure>& failure, const FrameState& state, Label label,
                                bool& is_changed) {
  CallFailure added{label, state.agent_state, state.kept_states};
  // An agent's frame gives its caller's state back when it ends.
  if (function_.is_agent_run) {
    added.agent_state = inputs_.agent_state;
    added.kept_states = inputs_.kept_states;
  }
  if (failure) added = program_.merge(*failure, added);
  is_changed = failure != added;
  failure = added;
}

/// The instruction might have failed because of what has this label, and has not. `budget`: as for `fail`.
void FrameAnalysis::doubt(std::uint32_t strand, std::uint32_t pc, Doubt doubt, std::size_t budget) {
  if (labels_.followed() != Followed::Trials || doubt.label.is_none()) return;
  const bytecode::ControlRegions& regions = program_.facts().regions();
  doubt.label = doubt.label.possible();
  for (const Cover& cover : covers_of(strand, pc)) {
    if (cover.kind != Cover::Kind::Handler) continue;
    const std::size_t depth = function_.handlers[cover.index].budget_depth;
    if (budget != no_budget && depth > budget) continue;
    Doubt& known = trials_.try_emplace(cover.index, TrialVisit{index_, cover.index}).first->second.doubts[pc];
    known = program_.join(known, doubt);
    if (!regions.handler_facts(index_, cover.index).can_fail_again) return;
  }
  const auto before = std::span(function_.code).first(pc);
  doubt.is_after_action =
      doubt.is_after_action || std::ranges::any_of(before, [&](bytecode::Instruction i) { return regions.may_act(i); });
  Strand& base = strands_[strands_[strand].base];
  if (base.outer == none) {
    summary_.doubt = program_.join(summary_.doubt, doubt);
    return;
  }
  const Doubt all = program_.join(base.doubt, doubt);
  if (all == base.doubt) return;
  base.doubt = all;
  pending_.emplace(base.block_pc, base.outer);
}

/// Any instruction may be the one that a budget does not allow.
void FrameAnalysis::fail_by_budgets(std::uint32_t strand, std::uint32_t pc, const FrameState& state) {
  const bool has_cleanups = !function_.finally_handlers.empty();
  if (has_cleanups) fail(strand, pc, state, state.spent, outer_budget);
  const std::size_t floor = strands_[strand].budget_floor;
  for (std::size_t at = floor; at < state.budgets.size(); ++at) {
    doubt(strand, pc, {state.budgets[at]}, at);
    fail(strand, pc, state, state.budgets[at], at);
  }
}

void FrameAnalysis::enter_handler(std::uint32_t strand, std::uint32_t pc, std::size_t index, FrameState state,
                                  Label label) {
  const Handler& handler = function_.handlers[index];
  const std::size_t kept = std::max<std::size_t>(handler.budget_depth, strands_[strand].budget_floor);
  if (state.budgets.size() > kept) state.budgets.resize(kept);
  drop_regions(state, handler.begin, handler.end);
  label = labels_.step(label, at(pc, StepKind::Failed));
  state.registers[handler.failure] = values_.plain(label);
  open_region(strand, state, decision_of_handler(function_, index), label);
  flow(strand, handler.target, std::move(state));
}

void FrameAnalysis::enter_cleanup(std::uint32_t strand, std::uint32_t pc, std::size_t index, FrameState state,
                                  Label label) {
  const FinallyHandler& cleanup = function_.finally_handlers[index];
  const std::size_t kept = std::max<std::size_t>(cleanup.budget_depth, strands_[strand].budget_floor);
  if (state.budgets.size() > kept) state.budgets.resize(kept);
  state.budgets.push_back(state.spent);
  drop_regions(state, cleanup.begin, cleanup.block + 1);
  label = labels_.step(label, at(pc, StepKind::Failed));
  state.registers[cleanup.kept] = values_.plain(label);
  open_region(strand, state, decision_of_cleanup(function_, index), label);
  flow(strand_of_cleanup(strand, static_cast<std::uint32_t>(index)), cleanup.block + 1, std::move(state));
}

void FrameAnalysis::decide(std::uint32_t strand, std::uint32_t pc, FrameState& state, Label label) {
  if (label.is_none()) return;
  label = labels_.step(label, at(pc, StepKind::Decided));
  open_region(strand, state, pc, label);
  // That nothing in it has failed depends on the decision, too (vm/execution/trials.h).
  if (!program_.facts().regions().region(index_, pc).can_fail) return;
  doubt(strand, pc, {label});
  fail(strand, pc, state, label);
}

void FrameAnalysis::open_region(std::uint32_t strand, FrameState& state, Decision decision, Label label) {
  if (label.is_none()) return;
  const auto place = std::ranges::lower_bound(state.regions, decision, {}, &OpenRegion::decision);
  if (place != state.regions.end() && place->decision == decision) {
    place->label = labels_.join(place->label, label);
  } else {
    state.regions.insert(place, {decision, label});
  }
  spend(strand, state, label);
}

void FrameAnalysis::drop_regions(FrameState& state, std::uint32_t begin, std::uint32_t end) const {
  std::erase_if(state.regions, [&](const OpenRegion& open) {
    const std::uint32_t ends_at = program_.facts().regions().region(index_, open.decision).end;
    return bytecode::is_left_with(function_, open.decision, ends_at, begin, end);
  });
}

void FrameAnalysis::end_regions(std::uint32_t pc, FrameState& state) {
  std::erase_if(state.regions, [&](const OpenRegion& open) {
    const bytecode::ControlRegion& region = program_.facts().regions().region(index_, open.decision);
    if (region.end != pc) return false;
    for (const std::uint16_t at : region.registers)
      state.registers[at] = values_.raise(state.registers[at], open.label);
    raise_state(state, region.state, open.label);
    return true;
  });
}

void FrameAnalysis::raise_state(FrameState& state, const bytecode::StateWrites& writes, Label label) {
  if (writes.is_empty()) return;
  if (writes.hands_off) state.kept_states = values_.raise(state.kept_states, label);
  if (writes.asks) program_.add_question(summary_, label);
  if (!writes.all && writes.entries.empty()) return;
  if (writes.all || values_.shape(state.agent_state) != Shape::Record) {
    state.agent_state = values_.raise(state.agent_state, label);
    return;
  }
  for (const std::uint16_t entry : writes.entries) {
    const ValueId raised = values_.raise(values_.part(state.agent_state, entry), label);
    state.agent_state = values_.with_part(state.agent_state, Shape::Record, entry, raised);
  }
}

ValueId FrameAnalysis::leave_regions(FrameState& state, ValueId result) {
  for (const OpenRegion& open : state.regions) {
    result = values_.raise(result, open.label);
    raise_state(state, program_.facts().regions().region(index_, open.decision).state, open.label);
  }
  return result;
}

Label FrameAnalysis::control_of(std::uint32_t strand, const FrameState& state) {
  Label control = strands_[strands_[strand].base].control;
  for (const OpenRegion& open : state.regions) control = labels_.join(control, open.label);
  return control;
}

void FrameAnalysis::spend(std::uint32_t strand, FrameState& state, Label label) {
  if (label.is_none()) return;
  label = label.possible();
  for (Label& budget : state.budgets) budget = labels_.join(budget, label).possible();
  state.spent = labels_.join(state.spent, label);
  summary_.spent = labels_.join(summary_.spent, label);
  Strand& base = strands_[strands_[strand].base];
  if (base.outer == none) return;
  const Label spent = labels_.join(base.spent, label);
  if (spent == base.spent) return;
  base.spent = spent;
  pending_.emplace(base.block_pc, base.outer);
}

std::uint32_t FrameAnalysis::add_strand(Strand strand) {
  const auto index = static_cast<std::uint32_t>(strands_.size());
  if (strand.cleanup == none) strand.base = index;
  const auto leader_count =
      static_cast<std::size_t>(std::ranges::count_if(leaders_, [](std::uint32_t leader) { return leader != none; }));
  strand.states.resize(leader_count);
  strands_.push_back(std::move(strand));
  return index;
}

std::uint32_t FrameAnalysis::strand_of_cleanup(std::uint32_t strand, std::uint32_t cleanup) {
  const std::uint32_t base = strands_[strand].base;
  for (std::uint32_t at = 0; at < strands_.size(); ++at) {
    if (strands_[at].base == base && strands_[at].cleanup == cleanup) return at;
  }
  Strand added;
  added.outer = strands_[base].outer;
  added.block_pc = strands_[base].block_pc;
  added.branch = strands_[base].branch;
  added.budget_floor = strands_[base].budget_floor;
  added.cleanup = cleanup;
  added.base = base;
  return add_strand(std::move(added));
}

std::uint32_t FrameAnalysis::strand_of_branch(std::uint32_t outer, std::uint32_t pc, std::uint32_t branch) {
  for (std::uint32_t at = 0; at < strands_.size(); ++at) {
    const Strand& known = strands_[at];
    if (known.outer == outer && known.block_pc == pc && known.branch == branch && known.cleanup == none) return at;
  }
  Strand added;
  added.outer = outer;
  added.block_pc = pc;
  added.branch = branch;
  return add_strand(std::move(added));
}

void FrameAnalysis::run_again(std::uint32_t strand) {
  for (std::uint32_t at = 0; at < strands_.size(); ++at) {
    if (strands_[at].base != strand) continue;
    for (std::uint32_t pc = 0; pc < leaders_.size(); ++pc) {
      if (leaders_[pc] != none && strands_[at].states[leaders_[pc]]) pending_.emplace(pc, at);
    }
  }
}

}  // namespace tenon::flows
