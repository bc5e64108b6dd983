#include <algorithm>
#include <array>

#include "vm/execution/operations.h"
#include "vm/values/context.h"
#include "vm/values/describe_value.h"
#include "vm/values/render.h"
#include "vm/values/text.h"

namespace tenon::vm {
namespace {

using bytecode::Instruction;
using types::FailureKind;

/// By EntryRole, in the names of types::TypeTable::context_role. Requirements and refusals exist only while a model is
/// asked, where no program reads them.
constexpr std::array<std::string_view, bytecode::entry_role_count> entry_role_names = {"data",      "system", "user",
                                                                                       "assistant", "data",   "data"};

/// Reading a byte of JSON takes as long as copying this many.
constexpr std::uint64_t bytes_read_as_json = 4;

OpStatus fail_too_long(MachineState& state) {
  return fail(state, FailureKind::Index, describe(RenderError::TooLong));
}

OpStatus fail_render(MachineState& state, RenderError error) {
  return fail(state, FailureKind::Index, describe(error));
}

OpStatus damage_text(MachineState& state) {
  return damage(state, "a text was expected");
}

template <class Compare>
OpStatus compare_texts(MachineState& state, Value* r, Instruction i, Compare compare) {
  const Value& left = r[i.b];
  const Value& right = r[i.c];
  if (left.tag() != Tag::String || right.tag() != Tag::String) return damage_text(state);
  const LabelId label = state.labels.join(left.label(), right.label());
  // The order of UTF-8's bytes is that of the code points.
  defer_cost(state, std::min(text_of(left).bytes.size(), text_of(right).bytes.size()));
  const bool result = compare(text_of(left).bytes.compare(text_of(right).bytes), 0);
  r[i.a].set_plain(Tag::Boolean, result ? 1 : 0, label);
  return done(state);
}

/// What is appended to a text with other references is appended to a copy.
void defer_cost_of_append(MachineState& state, const Value& target, const Value& piece) {
  defer_cost(state, text_of(piece).bytes.size() + (target.object()->is_shared() ? text_of(target).bytes.size() : 0));
}

}  // namespace

OpStatus operate_concatenate(MachineState& state, Value* r, Instruction i) {
  if (r[i.b].tag() != Tag::String || r[i.c].tag() != Tag::String) return damage_text(state);
  if (i.a == i.b) {
    defer_cost_of_append(state, r[i.a], r[i.c]);
    if (!append(r[i.a], r[i.c], state.labels)) return fail_too_long(state);
    return done(state);
  }
  Value joined = r[i.b];
  defer_cost_of_append(state, joined, r[i.c]);
  if (!append(joined, r[i.c], state.labels)) return fail_too_long(state);
  r[i.a] = std::move(joined);
  return done(state);
}

OpStatus operate_append(MachineState& state, Value* r, Instruction i) {
  if (r[i.a].tag() != Tag::String || r[i.b].tag() != Tag::String) return damage_text(state);
  defer_cost_of_append(state, r[i.a], r[i.b]);
  if (!append(r[i.a], r[i.b], state.labels)) return fail_too_long(state);
  return done(state);
}

OpStatus operate_template(MachineState& state, Value* r, Instruction i) {
  TextBuilder builder(state.labels);
  for (std::uint32_t k = 0; k < i.c; ++k) {
    if (auto shown = render(r[i.b + k], state.program->types(), state.labels, builder); !shown) {
      defer_cost(state, builder.size());
      return fail_render(state, shown.error());
    }
  }
  defer_cost(state, builder.size());
  r[i.a] = builder.finish();
  return done(state);
}

OpStatus operate_render(MachineState& state, Value* r, Instruction i) {
  auto text = render(r[i.b], state.program->types(), state.labels);
  if (!text) return fail_render(state, text.error());
  defer_cost(state, text_of(*text).bytes.size());
  r[i.a] = std::move(*text);
  return done(state);
}

OpStatus operate_describe(MachineState& state, Value* r, Instruction i) {
  Description description = describe_value(r[i.b], state.program->types());
  defer_cost(state, description.work);
  Value text = Value::string(std::move(description.text));
  text.set_label(whole_label(r[i.b], state.labels));
  r[i.a] = std::move(text);
  return done(state);
}

OpStatus operate_describe_sides(MachineState& state, Value* r, Instruction i) {
  Description description = describe_sides(r[i.b], r[i.c], state.program->types());
  defer_cost(state, description.work);
  Value text = Value::string(std::move(description.text));
  text.set_label(state.labels.join(whole_label(r[i.b], state.labels), whole_label(r[i.c], state.labels)));
  r[i.a] = std::move(text);
  return done(state);
}

OpStatus operate_read_json(MachineState& state, Value* r, Instruction i) {
  if (r[i.b].tag() != Tag::String) return damage_text(state);
  const JsonReader* const reader = state.program->json_reader();
  if (reader == nullptr) return damage(state, "the program was loaded without a reader of JSON");
  const LabelId label = whole_label(r[i.b], state.labels);
  defer_cost(state, text_of(r[i.b]).bytes.size() * bytes_read_as_json);
  auto value = reader->read(types::TypeId{i.c}, text_of(r[i.b]).bytes);
  if (!value) return fail(state, FailureKind::Conversion, std::move(value.error()), label);
  // A part that is taken out of the value says with it where the text came from.
  add_label(*value, label, state.labels);
  r[i.a] = std::move(*value);
  return done(state);
}

OpStatus operate_less_string(MachineState& state, Value* r, Instruction i) {
  return compare_texts(state, r, i, std::less<>{});
}

OpStatus operate_less_equal_string(MachineState& state, Value* r, Instruction i) {
  return compare_texts(state, r, i, std::less_equal<>{});
}

namespace {

OpStatus inject(MachineState& state, Value* r, Instruction i, std::uint8_t role, bool unless_said = false) {
  if (r[i.a].tag() != Tag::Context) return damage(state, "a context was expected");
  auto text = render(r[i.b], state.program->types(), state.labels);
  if (!text) return fail_render(state, text.error());
  defer_cost(state, text_of(*text).bytes.size());
  if (unless_said) {
    const Value* const said = newest_entry(r[i.a], role);
    if (said != nullptr) {
      // How many entries there are depends on both.
      const LabelId label = state.labels.join(whole_label(*said, state.labels), whole_label(*text, state.labels));
      if (label != LabelTable::program_text) r[i.a].set_label(state.labels.join(r[i.a].label(), label));
      if (said->as_text() == text->as_text()) return done(state);
    }
  }
  if (!push_entry(r[i.a], std::move(*text), state.labels, role)) {
    return fail(state, FailureKind::Index,
                "the context would be longer than " + std::to_string(text_bytes_max) + " bytes");
  }
  return done(state);
}

}  // namespace

OpStatus operate_inject(MachineState& state, Value* r, Instruction i) {
  return inject(state, r, i, 0);
}

OpStatus operate_inject_as(MachineState& state, Value* r, Instruction i) {
  if (i.c >= bytecode::entry_role_count) return damage(state, "an entry's role was expected");
  return inject(state, r, i, static_cast<std::uint8_t>(i.c));
}

OpStatus operate_inject_prompt(MachineState& state, Value* r, Instruction i) {
  return inject(state, r, i, static_cast<std::uint8_t>(bytecode::EntryRole::Person), true);
}

OpStatus operate_inject_role(MachineState& state, Value* r, Instruction i) {
  if (r[i.c].tag() != Tag::String) return damage_text(state);
  const std::string_view name = r[i.c].as_text();
  const auto role = std::find(entry_role_names.begin(), entry_role_names.end(), name);
  if (role == entry_role_names.end()) {
    return fail(state, FailureKind::Conversion,
                "a context has no entries of the role " + std::string(name.substr(0, 60)), r[i.c].label());
  }
  const LabelId label = r[i.c].label();
  const OpStatus status = inject(state, r, i, static_cast<std::uint8_t>(role - entry_role_names.begin()));
  // The entry says which role it was; what is read of the context has the context's label.
  if (label != LabelTable::program_text) r[i.a].set_label(state.labels.join(r[i.a].label(), label));
  return status;
}

OpStatus operate_context_entries(MachineState& state, Value* r, Instruction i) {
  if (r[i.b].tag() != Tag::Context) return damage(state, "a context was expected");
  const LabelId label = context_count_label(r[i.b], state.labels);
  std::vector<Value> entries;
  entries.reserve(context_length(r[i.b]));
  defer_cost(state, context_length(r[i.b]) * sizeof(Value));
  for (const ContextNode* node = &node_of(r[i.b]); node->length > 0; node = node->parent) {
    std::vector<Value> fields;
    fields.push_back(Value::string(std::string(entry_role_names[node->role])));
    fields.push_back(node->entry);
    entries.push_back(Value::record(types::TypeId{i.c}, std::move(fields)));
  }
  std::ranges::reverse(entries);
  r[i.a] = Value::list(std::move(entries));
  add_label(r[i.a], label, state.labels);
  return done(state);
}

OpStatus operate_fail(MachineState& state, Value* r, Instruction i) {
  if (r[i.a].tag() != Tag::String) return damage_text(state);
  return fail(state, FailureKind::Raised, text_of(r[i.a]).bytes, r[i.a].label());
}

OpStatus operate_break_contract(MachineState& state, Value* r, Instruction i) {
  if (r[i.a].tag() != Tag::String || r[i.b].tag() != Tag::String) return damage_text(state);
  return fail(state, FailureKind::ContractBroken, text_of(r[i.a]).bytes, r[i.a].label(), std::string(r[i.b].as_text()));
}

OpStatus operate_assert(MachineState& state, Value* r, Instruction i) {
  if (r[i.a].bits() != 0) return OpStatus::Ok;
  return fail(state, FailureKind::Raised,
              "`" + std::string(state.program->constant(i.wide()).as_text()) + "` does not hold", r[i.a].label());
}

}  // namespace tenon::vm
