#include <unordered_map>

#include "base/ensure.h"
#include "base/wire.h"
#include "vm/machine_state.h"
#include "vm/snapshot/snapshot.h"
#include "vm/snapshot/snapshot_form.h"
#include "vm/values/context.h"
#include "vm/values/object.h"

namespace tenon::vm {
namespace {

using wire::Writer;
namespace form = snapshot_form;

class Encoder {
 public:
  explicit Encoder(const MachineState& state) : state_(state) {}

  std::string run() {
    // Objects come before whatever refers to them, and are found while the rest is written.
    Writer scopes;
    for (const BudgetScope& scope : state_.scopes) scopes.present_field(form::scope, write_scope(scope));
    Writer rest;
    for (const auto& [id, fiber] : state_.fibers) rest.present_field(form::fiber, write_fiber(*fiber));
    Writer ready;
    for (const FiberId id : state_.ready) ready.varint(id.number);
    rest.field(form::ready, ready.view());
    rest.field(form::next_fiber, state_.next_fiber);
    rest.field(form::next_request, state_.next_request);
    Writer cancelled;
    for (const RequestId id : state_.cancelled) cancelled.varint(id.number);
    rest.field(form::cancelled, cancelled.view());
    rest.field(form::instructions, state_.instructions);
    if (state_.end) write_end(rest, *state_.end);
    write_unless_unit(rest, form::agent_state_at_end, state_.agent_state_at_end);
    if (has_used_allowance()) rest.present_field(form::allowance, write_allowance());
    write_unless_unit(rest, form::kept_states_at_end, state_.kept_states_at_end);
    rest.field(form::questions, state_.questions.index);

    Writer out;
    out.present_field(form::format, snapshot_format);
    write_labels(out);
    out.raw(objects_.view());
    out.raw(scopes.view());
    out.raw(rest.view());
    return out.take();
  }

 private:
  [[nodiscard]] bool has_used_allowance() const {
    const BudgetScope& used = state_.allowance;
    return (used.model_calls | used.tokens | used.instructions | used.cost_millionths | used.milliseconds |
            used.label.index) != 0;
  }

  [[nodiscard]] Writer write_allowance() const {
    Writer out;
    write_spent(out, state_.allowance);
    out.field(form::scope_label, state_.allowance.label.index);
    return out;
  }

  static void write_spent(Writer& out, const BudgetScope& scope) {
    out.field(form::scope_model_calls, scope.model_calls);
    out.field(form::scope_tokens, scope.tokens);
    out.field(form::scope_instructions, scope.instructions);
    out.field(form::scope_cost, scope.cost_millionths);
    out.field(form::scope_milliseconds, scope.milliseconds);
  }

  void write_labels(Writer& out) {
    for (const Source& source : state_.labels.sources()) {
      Writer message;
      message.field(1, static_cast<std::uint64_t>(source.kind));
      message.field(2, source.name);
      out.present_field(form::source, message);
    }
    for (std::uint32_t index = 1; index < state_.labels.size(); ++index) {
      Writer packed;
      for (const std::uint32_t source : state_.labels.sources_of({index})) packed.varint(source);
      out.present_field(form::label, packed);
    }
  }

  static Writer write_scope(const BudgetScope& scope) {
    Writer out;
    if (!scope.is_open) return out;
    out.present_field(form::scope_is_open, 1);
    out.field(form::scope_parent, scope.parent.index + 1U);
    out.field(form::scope_budget, scope.budget + 1U);
    bytecode::write_bounds(out, form::scope_bounds, scope.bounds);
    write_spent(out, scope);
    out.field(form::scope_base_depth, scope.base_depth);
    out.field(form::scope_kind, static_cast<std::uint64_t>(scope.kind));
    out.field(form::scope_label, scope.label.index);
    if (scope.bounds.bits) out.present_field(form::scope_bits_bound, *scope.bounds.bits);
    out.field(form::scope_bits, scope.bits);
    return out;
  }

  Writer write_fiber(const Fiber& fiber) {
    Writer out;
    out.field(form::fiber_id, fiber.id.number);
    out.field(form::fiber_parent, fiber.parent.number + 1U);
    out.field(form::fiber_branch, fiber.branch);
    out.field(form::fiber_block_pc, fiber.block_pc);
    out.field(form::fiber_budget_floor, fiber.budget_floor);
    out.field(form::fiber_depth_base, fiber.depth_base);
    out.field(form::fiber_key, fiber.key);
    out.field(form::fiber_next_ordinal, fiber.next_ordinal);
    out.field(form::fiber_state, static_cast<std::uint64_t>(fiber.state));
    if (fiber.state != FiberState::Ready) out.field(form::fiber_ordinal, fiber.ordinal);
    if (fiber.state == FiberState::Requesting) {
      out.field(form::fiber_request, fiber.request.number);
      out.field(form::fiber_is_request_taken, fiber.is_request_taken ? 1U : 0U);
    }
    if (fiber.state == FiberState::Joining) {
      out.field(form::fiber_block_started, fiber.block.started);
      out.field(form::fiber_block_finished, fiber.block.finished);
      Writer values;
      for (const Value& value : fiber.block.values) write_value(values, value);
      out.field(form::fiber_block_values, values.view());
    }
    Writer frames;
    std::size_t reach = 0;
    for (const Frame& frame : fiber.frames) {
      frames.varint(frame.function);
      frames.varint(frame.pc);
      frames.varint(frame.base);
      frames.varint(frame.scope.index);
      frames.varint(frame.open_budgets);
      reach = std::max<std::size_t>(
          reach, frame.base + std::size_t{state_.program->callables()[frame.function].register_count});
    }
    out.present_field(form::fiber_frames, frames);
    Writer registers;
    for (std::size_t i = 0; i < reach; ++i) write_value(registers, fiber.registers.data()[i]);
    out.present_field(form::fiber_registers, registers);
    write_unless_unit(out, form::fiber_agent_state, fiber.agent_state);
    write_unless_unit(out, form::fiber_awaited, fiber.awaited);
    write_unless_unit(out, form::fiber_kept_states, fiber.kept_states);
    Writer regions;
    for (const OpenRegion& region : fiber.regions) {
      regions.varint(region.frame);
      regions.varint(region.decision);
      regions.varint(region.label.index);
    }
    out.field(form::fiber_regions, regions.view());
    out.field(form::fiber_approval, static_cast<std::uint64_t>(fiber.approval));
    Writer trials;
    for (const Trial& trial : fiber.trials) {
      trials.varint(trial.frame);
      trials.varint(trial.handler);
      trials.varint(trial.label.index);
      trials.varint(trial.doubt.index);
      trials.varint(trial.shown);
    }
    out.field(form::fiber_trials, trials.view());
    return out;
  }

  void write_end(Writer& out, const Step& end) {
    if (const auto* const finished = std::get_if<Finished>(&end)) {
      Writer value;
      write_value(value, finished->value);
      out.present_field(form::finished, value);
    }
    if (const auto* const failed = std::get_if<Failed>(&end)) {
      const FailureReport& report = failed->report;
      Writer message;
      message.field(form::failed_kind, static_cast<std::uint64_t>(report.kind));
      message.field(form::failed_message, report.message);
      message.field(form::failed_place, report.place);
      message.field(form::failed_blame, report.blame);
      message.field(form::failed_label, report.label.index);
      Writer calls;
      for (const CallStackEntry& entry : report.call_stack.entries) {
        calls.varint(entry.function);
        calls.varint(entry.place.file);
        calls.varint(entry.place.line);
        calls.varint(entry.place.column);
      }
      message.field(form::failed_calls, calls.view());
      message.field(form::failed_left_out, report.call_stack.entries_left_out);
      out.present_field(form::failed, message);
    }
    if (const auto* const damaged = std::get_if<Damaged>(&end)) {
      Writer message;
      message.field(1, damaged->message);
      message.field(2, damaged->place);
      out.present_field(form::damaged, message);
    }
  }

  void write_value(Writer& out, const Value& value) {
    if (value.is_object()) write_object_tree(value.object());
    write_known_value(out, value);
  }

  void write_unless_unit(Writer& out, std::uint32_t field, const Value& value) {
    if (value.tag() == Tag::Unit && value.label() == LabelTable::program_text) return;
    Writer message;
    write_value(message, value);
    out.present_field(field, message);
  }

  /// Writes a value whose object is already written.
  void write_known_value(Writer& out, const Value& value) {
    const bool is_labelled = value.label() != LabelTable::program_text;
    out.varint(static_cast<std::uint64_t>(value.tag()) | (is_labelled ? form::labelled_value : 0U));
    if (is_labelled) out.varint(value.label().index);
    switch (value.tag()) {
      case Tag::Unit:
        return;
      case Tag::Boolean:
        out.varint(value.bits() != 0 ? 1 : 0);
        return;
      case Tag::Integer:
        out.signed_varint(static_cast<std::int64_t>(value.bits()));
        return;
      case Tag::Float:
        out.fixed64(value.bits());
        return;
      case Tag::Case:
        out.varint(value.type().index);
        out.varint(value.case_index());
        return;
      case Tag::String:
      case Tag::List:
      case Tag::Map:
      case Tag::Record:
      case Tag::Variant:
      case Tag::Context:
      case Tag::Secret:
        out.varint(numbers_.at(value.object()));
        return;
    }
  }

  /// The next child object of an object that is being visited, or null when there is none left.
  static const Object* next_child(const Object* object, std::size_t& next) {
    const auto child_of = [](const Value& value) -> const Object* {
      return value.is_object() ? value.object() : nullptr;
    };
    const auto first_of = [&](std::span<const Value> values) -> const Object* {
      while (next < values.size()) {
        if (const Object* const child = child_of(values[next++])) return child;
      }
      return nullptr;
    };
    switch (object->tag) {
      case Tag::List:
        return first_of(static_cast<const ListObject*>(object)->items);
      case Tag::Record:
      case Tag::Variant:
        return first_of(static_cast<const FieldsObject*>(object)->fields());
      case Tag::Map: {
        const auto& slots = static_cast<const MapObject*>(object)->slots;
        while (next < 2 * slots.size()) {
          const MapEntry& entry = slots[next / 2];
          const Object* const child = child_of(next % 2 == 0 ? entry.key : entry.value);
          ++next;
          if (child != nullptr) return child;
        }
        return nullptr;
      }
      case Tag::Context: {
        const auto* const node = static_cast<const ContextNode*>(object);
        if (next == 0) {
          ++next;
          if (node->parent != nullptr) return node->parent;
        }
        if (next == 1) {
          ++next;
          return child_of(node->entry);
        }
        return nullptr;
      }
      case Tag::Unit:
      case Tag::Boolean:
      case Tag::Integer:
      case Tag::Float:
      case Tag::Case:
      case Tag::String:
      case Tag::Secret:
        break;
    }
    return nullptr;
  }

  /// Writes the object after all that it refers to, without recursion.
  void write_object_tree(const Object* root) {
    if (numbers_.contains(root)) return;
    std::vector<std::pair<const Object*, std::size_t>> open{{root, 0}};
    while (!open.empty()) {
      auto& [object, next] = open.back();
      const Object* const child = next_child(object, next);
      if (child == nullptr) {
        write_object(*object);
        open.pop_back();
      } else if (!numbers_.contains(child)) {
        open.emplace_back(child, 0);
      }
    }
  }

  void write_object(const Object& object) {
    Writer out;
    const std::uint32_t constant =
        object.references == Object::immortal ? state_.program->find_constant(&object) : UINT32_MAX;
    if (constant != UINT32_MAX) {
      out.varint(form::constant_object);
      out.varint(constant);
    } else {
      out.varint(static_cast<std::uint64_t>(object.tag));
      write_content(out, object);
    }
    objects_.present_field(form::object, out);
    numbers_.emplace(&object, static_cast<std::uint32_t>(numbers_.size()));
  }

  void write_values(Writer& out, std::span<const Value> values) {
    out.varint(values.size());
    for (const Value& value : values) write_known_value(out, value);
  }

  void write_content(Writer& out, const Object& object) {
    switch (object.tag) {
      case Tag::String: {
        const auto& text = static_cast<const TextObject&>(object);
        out.bytes(text.bytes);
        out.varint(text.spans ? text.spans->size() : 0);
        if (!text.spans) return;
        for (const TextSpan& span : *text.spans) {
          out.varint(span.end);
          out.varint(span.label.index);
        }
        return;
      }
      case Tag::Secret: {
        const auto& secret = static_cast<const SecretObject&>(object);
        out.bytes(secret.origin);
        out.bytes(secret.sealed);
        return;
      }
      case Tag::List:
        write_values(out, static_cast<const ListObject&>(object).items);
        return;
      case Tag::Map: {
        const auto& slots = static_cast<const MapObject&>(object).slots;
        out.varint(slots.size());
        for (const MapEntry& entry : slots) {
          write_known_value(out, entry.key);
          write_known_value(out, entry.value);
        }
        return;
      }
      case Tag::Record:
      case Tag::Variant: {
        const auto& record = static_cast<const FieldsObject&>(object);
        out.varint(record.type.index);
        out.varint(record.case_index);
        write_values(out, record.fields());
        return;
      }
      case Tag::Context: {
        const auto& node = static_cast<const ContextNode&>(object);
        out.varint(node.parent == nullptr ? 0 : numbers_.at(node.parent) + 1ULL);
        if (node.parent == nullptr) return;
        out.varint(node.role);
        write_known_value(out, node.entry);
        if (node.count_label != node.parent->count_label) out.varint(node.count_label.index);
        return;
      }
      case Tag::Unit:
      case Tag::Boolean:
      case Tag::Integer:
      case Tag::Float:
      case Tag::Case:
        break;
    }
    ENSURE(false);
  }

  const MachineState& state_;
  Writer objects_;
  std::unordered_map<const Object*, std::uint32_t> numbers_;
};

}  // namespace

std::string encode(const Machine& machine) {
  return Encoder(machine.state()).run();
}

}  // namespace tenon::vm
