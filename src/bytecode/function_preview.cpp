#include "bytecode/function_preview.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "bytecode/windows.h"
#include "types/builtins.h"

namespace tenon::bytecode {
namespace {

/// The registers of which something is known before an instruction.
struct PreviewState {
  KnownValues registers;
  bool is_after_failure = false;  ///< the instruction is reached only when something has failed
  friend bool operator==(const PreviewState&, const PreviewState&) = default;
};

/// More walks than loops are nested in real programs.
constexpr std::size_t walks_max = 8;

KnownText unknown_text() {
  return {"{{ … }}", true};
}

/// More entries on both sides than real functions have; beyond that all are uncertain.
constexpr std::size_t merged_entries_max = 1'000;

bool is_same_text(const PreviewEntry& one, const PreviewEntry& other) {
  return one.role == other.role && one.text == other.text;
}

void add_uncertain(PreviewEntries& merged, PreviewEntry entry) {
  entry.is_certain = false;
  if (std::find(merged.begin(), merged.end(), entry) == merged.end()) merged.push_back(std::move(entry));
}

}  // namespace

PreviewEntries merge_entries(const PreviewEntries& one, const PreviewEntries& other) {
  const std::size_t width = other.size() + 1;
  std::vector<std::uint32_t> common;  // of the entries from (left, right) on, at left * width + right
  if (one.size() <= merged_entries_max && other.size() <= merged_entries_max) {
    common.assign((one.size() + 1) * width, 0);
    for (std::size_t left = one.size(); left-- > 0;) {
      for (std::size_t right = other.size(); right-- > 0;) {
        const std::size_t at = left * width + right;
        common[at] = is_same_text(one[left], other[right]) ? common[at + width + 1] + 1
                                                           : std::max(common[at + width], common[at + 1]);
      }
    }
  }
  PreviewEntries merged;
  std::size_t left = 0;
  std::size_t right = 0;
  while (left < one.size() && right < other.size() && !common.empty()) {
    const std::size_t at = left * width + right;
    if (is_same_text(one[left], other[right])) {
      merged.push_back(one[left++]);
      merged.back().is_certain = merged.back().is_certain && other[right++].is_certain;
    } else if (common[at + width] >= common[at + 1]) {
      add_uncertain(merged, one[left++]);
    } else {
      add_uncertain(merged, other[right++]);
    }
  }
  while (left < one.size()) add_uncertain(merged, one[left++]);
  while (right < other.size()) add_uncertain(merged, other[right++]);
  return merged;
}

namespace {

/// The tools of both sets in their order. Where these differ, the set contains some of them.
PreviewTools merge_tools(const PreviewTools& one, const PreviewTools& other) {
  if (one == other) return one;
  PreviewTools merged = one;
  merged.is_certain = false;
  for (const std::uint32_t tool : other.tools) {
    if (std::ranges::find(merged.tools, tool) == merged.tools.end()) merged.tools.push_back(tool);
  }
  std::ranges::sort(merged.tools);
  return merged;
}

std::optional<KnownValue> merge_values(const KnownValue& one, const KnownValue& other) {
  if (one == other) return one;
  const auto* const entries = std::get_if<PreviewEntries>(&one);
  const auto* const other_entries = std::get_if<PreviewEntries>(&other);
  if (entries != nullptr && other_entries != nullptr) return merge_entries(*entries, *other_entries);
  const auto* const tools = std::get_if<PreviewTools>(&one);
  const auto* const other_tools = std::get_if<PreviewTools>(&other);
  if (tools != nullptr && other_tools != nullptr) return merge_tools(*tools, *other_tools);
  return std::nullopt;
}

/// What is known of the registers whichever of both is the case. What follows a failure is shown only where nothing
/// else leads to.
void merge_states(PreviewState& state, const PreviewState& other) {
  if (state.is_after_failure != other.is_after_failure) {
    if (state.is_after_failure) state = other;
    return;
  }
  KnownValues merged;
  for (const auto& [at, known] : state.registers) {
    const auto found = other.registers.find(at);
    if (found == other.registers.end()) continue;
    if (std::optional<KnownValue> both = merge_values(known, found->second)) merged.emplace(at, std::move(*both));
  }
  state.registers = std::move(merged);
}

/// Without the answers that are refused, and why: a request is shown as it is sent first.
PreviewEntries without_refusals(const PreviewEntries& entries) {
  PreviewEntries kept;
  for (const PreviewEntry& entry : entries) {
    if (entry.role != EntryRole::Refusal) {
      kept.push_back(entry);
    } else if (!kept.empty() && kept.back().role == EntryRole::Assistant) {
      kept.pop_back();
    }
  }
  return kept;
}

KnownText known_boolean(bool value) {
  return {value ? "true" : "false", false};
}

class Preview {
 public:
  Preview(const Program& program, const Function& function, const KnownValues& parameters)
      : program_(program), function_(function), parameters_(parameters) {}

  FunctionPreview run() {
    walk();
    // Again with what the loops bring to where they begin, until they bring nothing new.
    for (std::size_t walks = 1; walks < walks_max && !looping_.empty(); ++walks) {
      const auto brought = std::exchange(looping_, {});
      arriving_ = brought;
      found_ = {};
      walk();
      if (looping_ == brought) break;
    }
    return std::move(found_);
  }

 private:
  void walk() {
    state_ = {parameters_, false};
    is_reached_ = true;
    for (std::uint32_t pc = 0; pc < function_.code.size(); ++pc) {
      if (const auto arriving = arriving_.find(pc); arriving != arriving_.end()) {
        if (is_reached_) {
          merge_states(state_, arriving->second);
        } else {
          state_ = std::move(arriving->second);
        }
        is_reached_ = true;
        arriving_.erase(arriving);
      }
      if (!is_reached_) continue;
      for (const Handler& handler : function_.handlers) {
        if (handler.begin == pc) arrive_after_failure(pc, handler.end, handler.target, handler.failure);
      }
      for (const FinallyHandler& cleanup : function_.finally_handlers) {
        if (cleanup.begin == pc) arrive_after_failure(pc, cleanup.block, cleanup.block, cleanup.kept);
        if (cleanup.block == pc) forget_changed(state_, cleanup.begin, cleanup.block);
      }
      step(pc);
    }
  }

  /// Something between `pc` and `end` may fail, at any instruction.
  void arrive_after_failure(std::uint32_t pc, std::uint32_t end, std::uint32_t target, std::uint16_t failure) {
    PreviewState failed = state_;
    forget_changed(failed, pc, end);
    failed.registers.erase(failure);
    failed.is_after_failure = true;
    arrive(pc, target, failed);
  }

  /// Forgets the values that instructions of the range change. Contexts and sets are shown as they are before.
  void forget_changed(PreviewState& state, std::uint32_t begin, std::uint32_t end) {
    const PreviewState before = std::exchange(state_, state);
    for (std::uint32_t pc = begin; pc < end && pc < function_.code.size(); ++pc) {
      const InstructionInfo* const info = find_instruction(function_.code[pc].opcode);
      if (info != nullptr) forget(function_.code[pc], *info);
    }
    const KnownValues left = std::exchange(state_, before).registers;
    std::erase_if(state.registers, [&](const auto& entry) {
      const bool is_shown =
          std::holds_alternative<PreviewEntries>(entry.second) || std::holds_alternative<PreviewTools>(entry.second);
      return !is_shown && !left.contains(entry.first);
    });
  }

  /// `state`, at `pc`, is one of those with which the instruction `target` may be reached.
  void arrive(std::uint32_t pc, std::int64_t target, const PreviewState& state) {
    const bool is_loop = target <= pc;
    const auto [entry, is_new] =
        (is_loop ? looping_ : arriving_).try_emplace(static_cast<std::uint32_t>(target), state);
    if (!is_new) merge_states(entry->second, state);
  }

  void step(std::uint32_t pc) {
    const Instruction i = function_.code[pc];
    const InstructionInfo* const info = find_instruction(i.opcode);
    if (info == nullptr) return;
    if (info->operands[1] == Operand::Site && function_.context_register != no_register) {
      found_.sites.try_emplace(i.wide(), SitePreview{without_refusals(entries(function_.context_register)), sets(i)});
    }
    if (info->opcode == Opcode::Call && i.wide() < program_.functions.size()) list_call(i);
    const bool returns = info->opcode == Opcode::Return || info->opcode == Opcode::ReturnUnit;
    if (returns && function_.context_register != no_register) {
      const PreviewEntries own = entries(function_.context_register);
      found_.entries_at_end = found_.entries_at_end ? merge_entries(*found_.entries_at_end, own) : own;
    }
    const std::optional<bool> jumps = will_jump(i, info->opcode);
    change(i, *info);
    if (info->operands[1] == Operand::Jump && jumps != false)
      arrive(pc, std::int64_t{pc} + 1 + i.signed_wide(), state_);
    if (info->operands[1] == Operand::Table && i.wide() < program_.jump_tables.size()) {
      const JumpTable& table = program_.jump_tables[i.wide()];
      for (const std::uint32_t target : table.targets) arrive(pc, target, state_);
      if (info->opcode == Opcode::Switch) arrive(pc, table.otherwise, state_);
    }
    is_reached_ = !ends_here(info->opcode) && jumps != true;
  }

  /// Whether a conditional jump is taken, as far as its condition is known. A list without items is known as a set
  /// without tools.
  [[nodiscard]] std::optional<bool> will_jump(Instruction i, Opcode opcode) const {
    if (opcode == Opcode::ForList) {
      const PreviewTools* const items = set(i.a);
      return items != nullptr && items->is_certain && items->tools.empty() ? std::optional(true) : std::nullopt;
    }
    if (opcode != Opcode::JumpIf && opcode != Opcode::JumpUnless) return std::nullopt;
    const KnownText condition = text(i.a);
    if (condition.has_unknown) return std::nullopt;
    return (condition.text == "true") == (opcode == Opcode::JumpIf);
  }

  /// Whether the next instruction is reached by jumps alone.
  static bool ends_here(Opcode opcode) {
    return opcode == Opcode::Jump || opcode == Opcode::Switch || opcode == Opcode::Return ||
           opcode == Opcode::ReturnUnit || opcode == Opcode::Fail || opcode == Opcode::Raise ||
           opcode == Opcode::Unreachable || opcode == Opcode::BreakContract || opcode == Opcode::BreakRequires ||
           opcode == Opcode::EndBranch;
  }

  void list_call(Instruction i) {
    PreviewCall call{i.wide(), {}, state_.is_after_failure};
    for (std::uint16_t at = 0; at < program_.functions[i.wide()].parameters.size(); ++at) {
      const auto known = state_.registers.find(static_cast<std::uint16_t>(i.a + at));
      if (known != state_.registers.end()) call.arguments.emplace(at, known->second);
    }
    found_.calls.push_back(std::move(call));
  }

  /// What is known of the sets that a `select` offers, which are in the registers after its first one.
  [[nodiscard]] std::vector<std::optional<PreviewTools>> sets(Instruction i) const {
    std::vector<std::optional<PreviewTools>> known(count_sets(program_.sites[i.wide()]));
    for (std::size_t at = 0; at < known.size(); ++at) {
      if (const PreviewTools* const tools = set(static_cast<std::uint16_t>(i.a + 1 + at))) known[at] = *tools;
    }
    return known;
  }

  void change(Instruction i, const InstructionInfo& info) {
    switch (info.opcode) {
      case Opcode::LoadConstant:
        set(i.a, constant(i.wide()));
        return;
      case Opcode::LoadInteger:
        set(i.a, KnownText{std::to_string(i.signed_wide()), false});
        return;
      case Opcode::LoadBoolean:
        set(i.a, known_boolean(i.b != 0));
        return;
      case Opcode::LoadCase:
        state_.registers[i.a] = KnownCase{i.c};
        return;
      case Opcode::GetCase:
        get_case(i);
        return;
      case Opcode::GetField:
        get_field(i);
        return;
      case Opcode::EqualShort:
        compare(i);
        return;
      case Opcode::Move:
        copy(i.a, i.b);
        return;
      case Opcode::Take:
        copy(i.a, i.b);
        if (i.a != i.b) state_.registers.erase(i.b);
        return;
      case Opcode::Render:
        copy(i.a, i.b);
        forget_unless_text(i.a);
        return;
      case Opcode::Template:
        join(i.a, i.b, i.c);
        return;
      case Opcode::Concatenate:
        state_.registers[i.a] = joined(text(i.b), text(i.c));
        return;
      case Opcode::Append:
        state_.registers[i.a] = joined(text(i.a), text(i.b));
        return;
      case Opcode::MakeRecord:
        make_record(i);
        return;
      case Opcode::MakeList:
        make_set(i);
        return;
      case Opcode::Push:
        push(i);
        return;
      case Opcode::CallBuiltin:
        call_builtin(i, info);
        return;
      case Opcode::NewContext:
        state_.registers[i.a] = PreviewEntries{};
        return;
      case Opcode::Inject:
        inject(i, EntryRole::Data);
        return;
      case Opcode::InjectAs:
        inject(i, static_cast<EntryRole>(i.c));
        return;
      case Opcode::InjectPrompt:
        inject(i, EntryRole::Person);
        return;
      default:
        forget(i, info);
    }
  }

  /// For every other instruction: nothing is known of what it writes.
  void forget(Instruction i, const InstructionInfo& info) {
    const std::uint16_t fields[3] = {i.a, i.b, i.c};
    for (std::size_t at = 0; at < 3; ++at) {
      const Operand operand = info.operands[at];
      if (operand == Operand::Write || operand == Operand::ReadWrite) state_.registers.erase(fields[at]);
      if (operand == Operand::Window && at == 0) forget_window(i, info.opcode);
    }
  }

  void forget_window(Instruction i, Opcode opcode) {
    const auto end = state_.registers.lower_bound(static_cast<std::uint16_t>(i.a + window_size(i, opcode)));
    const bool is_whole = std::size_t{i.a} + window_size(i, opcode) > UINT16_MAX;
    state_.registers.erase(state_.registers.lower_bound(i.a), is_whole ? state_.registers.end() : end);
  }

  /// How many registers from `i.a` on are not known any more.
  [[nodiscard]] std::size_t window_size(Instruction i, Opcode opcode) const {
    const bool clears_all = opcode == Opcode::Call || opcode == Opcode::CallTool || opcode == Opcode::CallToolInParts ||
                            opcode == Opcode::Parallel;
    return clears_all ? UINT16_MAX : written_window(program_, i);
  }

  void set(std::uint16_t to, std::optional<KnownText> text) {
    state_.registers.erase(to);
    if (text) state_.registers[to] = std::move(*text);
  }

  void copy(std::uint16_t to, std::uint16_t from) {
    const auto found = state_.registers.find(from);
    if (found == state_.registers.end()) {
      state_.registers.erase(to);
    } else {
      KnownValue known = found->second;
      state_.registers[to] = std::move(known);
    }
  }

  void join(std::uint16_t to, std::uint16_t first, std::uint16_t count) {
    KnownText all;
    for (std::uint16_t at = 0; at < count; ++at) all = joined(all, text(static_cast<std::uint16_t>(first + at)));
    state_.registers[to] = std::move(all);
  }

  static KnownText joined(KnownText first, const KnownText& second) {
    first.text += second.text;
    first.has_unknown = first.has_unknown || second.has_unknown;
    return first;
  }

  void forget_unless_text(std::uint16_t at) {
    const auto found = state_.registers.find(at);
    if (found != state_.registers.end() && !std::holds_alternative<KnownText>(found->second)) {
      state_.registers.erase(found);
    }
  }

  void get_case(Instruction i) {
    const auto found = state_.registers.find(i.b);
    const auto* const known = found == state_.registers.end() ? nullptr : std::get_if<KnownCase>(&found->second);
    set(i.a, known == nullptr ? std::nullopt : std::optional(KnownText{std::to_string(known->index), false}));
  }

  void get_field(Instruction i) {
    const auto found = state_.registers.find(i.b);
    const auto* const record = found == state_.registers.end() ? nullptr : std::get_if<KnownRecord>(&found->second);
    std::optional<KnownValue> value;
    if (record != nullptr) {
      for (const auto& [field, known] : record->fields) {
        if (field == i.c) value = known;
      }
    }
    state_.registers.erase(i.a);
    if (value) state_.registers[i.a] = std::move(*value);
  }

  void compare(Instruction i) {
    const KnownText number = text(i.b);
    set(i.a,
        number.has_unknown ? std::nullopt : std::optional(known_boolean(number.text == std::to_string(i.signed_c()))));
  }

  void make_record(Instruction i) {
    KnownRecord record;
    for (std::uint16_t field = 0; field < count_fields(types::TypeId{i.c}); ++field) {
      const auto known = state_.registers.find(static_cast<std::uint16_t>(i.b + field));
      if (known != state_.registers.end()) record.fields.emplace_back(field, known->second);
    }
    make_tool(i);
    if (!record.fields.empty() && !state_.registers.contains(i.a)) state_.registers[i.a] = std::move(record);
  }

  [[nodiscard]] std::size_t count_fields(types::TypeId type) const {
    if (program_.types.kind(type) == types::TypeKind::Struct) return program_.types.struct_type(type).fields.size();
    return program_.types.get(type).arguments.size();
  }

  /// A tool is a record of a type of its own, whose first field is the tool's index.
  void make_tool(Instruction i) {
    const KnownText index = text(i.b);
    state_.registers.erase(i.a);
    const auto is_made = [&](std::uint32_t at) {
      return program_.tools[at].record.index == i.c && index.text == std::to_string(at);
    };
    for (std::uint32_t at = 0; at < program_.tools.size() && !index.has_unknown; ++at) {
      if (!is_made(at)) continue;
      state_.registers[i.a] = KnownTool{at};
      found_.tools.insert(at);
    }
  }

  void make_set(Instruction i) {
    PreviewTools set;
    for (std::uint16_t at = 0; at < i.c; ++at) {
      if (const auto* const known = tool(static_cast<std::uint16_t>(i.b + at))) set.tools.push_back(known->tool);
    }
    state_.registers.erase(i.a);
    if (set.tools.size() == i.c) state_.registers[i.a] = std::move(set);
  }

  void push(Instruction i) {
    const auto* const item = tool(i.b);
    const auto list = state_.registers.find(i.a);
    auto* const tools = list == state_.registers.end() ? nullptr : std::get_if<PreviewTools>(&list->second);
    if (tools != nullptr && item != nullptr) {
      tools->tools.push_back(item->tool);
    } else if (list != state_.registers.end()) {
      state_.registers.erase(list);
    }
  }

  void call_builtin(Instruction i, const InstructionInfo& info) {
    const PreviewTools* const one = set(i.c);
    const PreviewTools* const other = set(static_cast<std::uint16_t>(i.c + 1));
    const bool is_join = static_cast<types::Builtin>(i.b) == types::Builtin::ToolsJoin;
    if (!is_join || one == nullptr || other == nullptr) {
      forget(i, info);
      return;
    }
    PreviewTools both = *one;
    both.tools.insert(both.tools.end(), other->tools.begin(), other->tools.end());
    both.is_certain = both.is_certain && other->is_certain;
    state_.registers[i.a] = std::move(both);
  }

  [[nodiscard]] const PreviewTools* set(std::uint16_t at) const {
    const auto found = state_.registers.find(at);
    return found == state_.registers.end() ? nullptr : std::get_if<PreviewTools>(&found->second);
  }

  [[nodiscard]] const KnownTool* tool(std::uint16_t at) const {
    const auto found = state_.registers.find(at);
    return found == state_.registers.end() ? nullptr : std::get_if<KnownTool>(&found->second);
  }

  void inject(Instruction i, EntryRole role) {
    PreviewEntries more = entries(i.a);
    const KnownText injected = text(i.b);
    more.push_back({role, injected.text, true, injected.has_unknown});
    state_.registers[i.a] = std::move(more);
  }

  [[nodiscard]] std::optional<KnownText> constant(std::uint32_t index) const {
    if (index >= program_.constants.size()) return std::nullopt;
    const auto* const text = std::get_if<std::string>(&program_.constants[index]);
    return text == nullptr ? std::nullopt : std::optional(KnownText{*text, false});
  }

  [[nodiscard]] KnownText text(std::uint16_t at) const {
    const auto found = state_.registers.find(at);
    const auto* const known = found == state_.registers.end() ? nullptr : std::get_if<KnownText>(&found->second);
    return known == nullptr ? unknown_text() : *known;
  }

  [[nodiscard]] PreviewEntries entries(std::uint16_t at) const {
    const auto found = state_.registers.find(at);
    const auto* const known = found == state_.registers.end() ? nullptr : std::get_if<PreviewEntries>(&found->second);
    return known == nullptr ? PreviewEntries{{EntryRole::Data, unknown_text().text, true, true}} : *known;
  }

  const Program& program_;
  const Function& function_;
  const KnownValues& parameters_;
  PreviewState state_;
  bool is_reached_ = true;
  std::map<std::uint32_t, PreviewState> arriving_;  ///< by instruction: the state that jumps bring there
  std::map<std::uint32_t, PreviewState> looping_;   ///< the same of jumps back, for the next walk
  FunctionPreview found_;
};

}  // namespace

bool operator==(const KnownRecord& one, const KnownRecord& other) {
  return one.fields == other.fields;
}

FunctionPreview preview_function(const Program& program, const Function& function, const KnownValues& parameters) {
  return Preview(program, function, parameters).run();
}

}  // namespace tenon::bytecode
