#include <algorithm>
#include <set>

#include "base/utf8.h"
#include "base/wire.h"
#include "vm/machine_state.h"
#include "vm/snapshot/snapshot.h"
#include "vm/snapshot/snapshot_form.h"
#include "vm/snapshot/state_check.h"
#include "vm/values/context.h"
#include "vm/values/object.h"

namespace tenon::vm {
namespace {

using types::TypeId;
using types::TypeKind;
using types::TypeTable;
using wire::Reader;
namespace form = snapshot_form;

/// A list of the records of agents' states, or ().
bool is_kept_states(const Value& value) {
  if (value.tag() == Tag::Unit) return true;
  return value.tag() == Tag::List && std::all_of(value.items().begin(), value.items().end(),
                                                 [](const Value& state) { return state.tag() == Tag::Record; });
}

/// Reads field by field. Each message is checked by itself here; whether they make a run together, by `check_state`.
class Decoder {
 public:
  Decoder(std::shared_ptr<const LoadedProgram> program, std::string_view bytes)
      : state_(std::make_unique<MachineState>(std::move(program))), in_(bytes) {}

  Result<Machine, SnapshotError> run() {
    bool has_format = false;
    while (in_.next_field()) {
      if (!has_format && in_.number() != form::format) in_.reject();
      // Objects are made of labels, and all the rest of objects.
      if (in_.number() > form::label && !labels_stand_) finish_labels();
      switch (in_.number()) {
        case form::format: {
          const std::uint64_t format = in_.value();
          if (has_format) in_.reject();
          has_format = true;
          if (in_.is_good() && format != snapshot_format) {
            return failure(SnapshotError{"the snapshot is in format " + std::to_string(format) +
                                         "; this version of Tenon reads format " + std::to_string(snapshot_format)});
          }
          break;
        }
        case form::source:
          read_source();
          break;
        case form::label:
          read_label();
          break;
        case form::object:
          read_object();
          break;
        case form::scope:
          state_->scopes.push_back(read_scope());
          break;
        case form::fiber:
          read_fiber();
          break;
        case form::ready:
          for (const std::uint64_t id : read_numbers(in_)) state_->ready.push_back({id});
          break;
        case form::next_fiber:
          state_->next_fiber = in_.value();
          break;
        case form::next_request:
          state_->next_request = in_.value();
          break;
        case form::cancelled:
          for (const std::uint64_t id : read_numbers(in_)) state_->cancelled.push_back({id});
          break;
        case form::instructions:
          state_->instructions = in_.value();
          break;
        case form::finished:
          read_finished();
          break;
        case form::failed:
          read_failed();
          break;
        case form::damaged:
          read_damaged();
          break;
        case form::agent_state_at_end: {
          Reader packed(in_.bytes_value());
          state_->agent_state_at_end = read_value(packed);
          if (!packed.is_good() || !packed.is_at_end()) in_.reject();
          break;
        }
        case form::kept_states_at_end: {
          Reader packed(in_.bytes_value());
          state_->kept_states_at_end = read_value(packed);
          if (!packed.is_good() || !packed.is_at_end() || !is_kept_states(state_->kept_states_at_end)) in_.reject();
          break;
        }
        case form::questions:
          state_->questions.index = in_.value32();
          break;
        case form::allowance: {
          const BudgetScope used = read_scope();
          if (used.is_open) in_.reject();
          state_->allowance.model_calls = used.model_calls;
          state_->allowance.tokens = used.tokens;
          state_->allowance.instructions = used.instructions;
          state_->allowance.cost_millionths = used.cost_millionths;
          state_->allowance.milliseconds = used.milliseconds;
          state_->allowance.label = used.label;
          break;
        }
        default:
          in_.reject();
      }
    }
    if (!in_.is_good() || !has_format) return failure(SnapshotError{"the bytes are not a snapshot"});
    if (auto checked = check_state(*state_); !checked) return failure(SnapshotError{checked.error().message});
    return Machine(std::move(state_));
  }

 private:
  static std::vector<std::uint64_t> read_numbers(Reader& in) {
    Reader packed(in.bytes_value());
    std::vector<std::uint64_t> numbers;
    while (packed.is_good() && !packed.is_at_end()) numbers.push_back(packed.varint());
    if (!packed.is_good()) in.reject();
    return numbers;
  }

  static std::string read_text(Reader& in) {
    const std::string_view bytes = in.bytes_value();
    if (bytes.size() > text_bytes_max || find_invalid_utf8(bytes) != std::string_view::npos) in.reject();
    return in.is_good() ? std::string(bytes) : std::string();
  }

  static void read_message(Reader& in, auto read) {
    Reader message(in.bytes_value());
    while (message.next_field()) {
      if (!read(message, message.number())) message.reject();
    }
    if (!message.is_good()) in.reject();
  }

  void read_source() {
    Source source;
    read_message(in_, [&](Reader& message, std::uint32_t number) {
      switch (number) {
        case 1:
          source.kind = static_cast<SourceKind>(message.value_up_to(source_kind_count - 1));
          return true;
        case 2:
          source.name = read_text(message);
          return true;
        default:
          return false;
      }
    });
    sources_.push_back(std::move(source));
  }

  void read_label() {
    std::vector<std::uint32_t> set;
    for (const std::uint64_t source : read_numbers(in_)) {
      if (source > UINT32_MAX) in_.reject();
      set.push_back(static_cast<std::uint32_t>(source));
    }
    label_sets_.push_back(std::move(set));
  }

  void finish_labels() {
    labels_stand_ = true;
    if (in_.is_good() && !state_->labels.restore(std::move(sources_), std::move(label_sets_))) in_.reject();
  }

  LabelId read_label_id(Reader& in) {
    const LabelId label{in.varint32()};
    if (!state_->labels.contains(label)) in.reject();
    return in.is_good() ? label : LabelId{};
  }

  /// The number of fields of a value of the type and case; nothing when no value is of it.
  [[nodiscard]] std::optional<std::size_t> field_count(Tag tag, TypeId type, std::uint32_t case_index) const {
    const TypeTable& types = state_->program->types();
    if (type.index >= types.size()) return std::nullopt;
    if (tag == Tag::Record) {
      if (types.kind(type) == TypeKind::Struct && case_index == 0) return types.struct_type(type).fields.size();
      if (types.kind(type) == TypeKind::Tuple && case_index == 0) return types.get(type).arguments.size();
      return std::nullopt;
    }
    if (type == TypeTable::any_option) return case_index <= 1 ? std::optional<std::size_t>(case_index) : std::nullopt;
    if (type == TypeTable::any_result) return case_index <= 1 ? std::optional<std::size_t>(1) : std::nullopt;
    if (types.kind(type) != TypeKind::Enum || case_index >= types.enum_type(type).variants.size()) return std::nullopt;
    return types.enum_type(type).variants[case_index].payload.size();
  }

  Value read_value(Reader& in) {
    const std::uint64_t head = in.varint();
    const bool is_labelled = (head & form::labelled_value) != 0;
    const LabelId label = is_labelled ? read_label_id(in) : LabelId{};
    if (is_labelled && label == LabelTable::program_text) in.reject();
    Value value = read_payload(in, head & ~std::uint64_t{form::labelled_value});
    value.set_label(label);
    return value;
  }

  Value read_payload(Reader& in, std::uint64_t tag) {
    switch (tag) {
      case static_cast<std::uint64_t>(Tag::Unit):
        return {};
      case static_cast<std::uint64_t>(Tag::Boolean): {
        const std::uint64_t value = in.varint();
        if (value > 1) in.reject();
        return Value::boolean(value == 1);
      }
      case static_cast<std::uint64_t>(Tag::Integer):
        return Value::integer(in.signed_varint());
      case static_cast<std::uint64_t>(Tag::Float):
        return Value::plain(Tag::Float, in.fixed64());
      case static_cast<std::uint64_t>(Tag::Case): {
        const TypeId type{in.varint32()};
        const std::uint32_t index = in.varint32();
        if (!in.is_good() || field_count(Tag::Case, type, index) != 0) in.reject();
        return Value::plain_case(type, index);
      }
      case static_cast<std::uint64_t>(Tag::String):
      case static_cast<std::uint64_t>(Tag::List):
      case static_cast<std::uint64_t>(Tag::Map):
      case static_cast<std::uint64_t>(Tag::Record):
      case static_cast<std::uint64_t>(Tag::Variant):
      case static_cast<std::uint64_t>(Tag::Context):
      case static_cast<std::uint64_t>(Tag::Secret): {
        const std::uint64_t number = in.varint();
        if (!in.is_good() || number >= objects_.size() || static_cast<std::uint64_t>(objects_[number].tag()) != tag) {
          in.reject();
          return {};
        }
        return objects_[number];
      }
      default:
        in.reject();
        return {};
    }
  }

  std::vector<Value> read_values(Reader& in) {
    const std::uint64_t count = in.varint();
    if (count > in.size_left()) in.reject();  // each is a byte at least
    std::vector<Value> values;
    for (std::uint64_t i = 0; i < count && in.is_good(); ++i) values.push_back(read_value(in));
    return values;
  }

  void read_object() {
    Reader in(in_.bytes_value());
    const std::uint64_t kind = in.varint();
    Value object;
    switch (kind) {
      case form::constant_object:
        object = read_constant(in);
        break;
      case static_cast<std::uint64_t>(Tag::String):
        object = read_text_object(in);
        break;
      case static_cast<std::uint64_t>(Tag::List): {
        std::vector<Value> items = read_values(in);
        if (items.size() > list_items_max) in.reject();
        object = Value::list(std::move(items));
        break;
      }
      case static_cast<std::uint64_t>(Tag::Map):
        object = read_map(in);
        break;
      case static_cast<std::uint64_t>(Tag::Record):
        object = read_fields(in, Tag::Record);
        break;
      case static_cast<std::uint64_t>(Tag::Variant):
        object = read_fields(in, Tag::Variant);
        break;
      case static_cast<std::uint64_t>(Tag::Context):
        object = read_context(in);
        break;
      case static_cast<std::uint64_t>(Tag::Secret): {
        const std::string_view origin = in.bytes();
        const std::string_view sealed = in.bytes();
        const bool is_right = in.is_good() && origin.size() <= text_bytes_max && sealed.size() <= text_bytes_max &&
                              find_invalid_utf8(origin) == std::string_view::npos;
        if (is_right) {
          object = Value::secret(std::string(origin), std::string(sealed));
        } else {
          in.reject();
        }
        break;
      }
      default:
        in.reject();
    }
    if (!in.is_good() || !in.is_at_end()) in_.reject();
    objects_.push_back(std::move(object));
  }

  Value read_constant(Reader& in) {
    const std::uint32_t index = in.varint32();
    if (!in.is_good() || index >= state_->program->constant_count() || !state_->program->constant(index).is_object()) {
      in.reject();
      return {};
    }
    return state_->program->constant(index);
  }

  Value read_text_object(Reader& in) {
    const std::string_view bytes = in.bytes();
    const std::uint64_t count = in.varint();
    if (count > in.size_left() || bytes.size() > text_bytes_max || find_invalid_utf8(bytes) != std::string_view::npos)
      in.reject();
    auto spans = std::make_unique<std::vector<TextSpan>>();
    std::size_t begin = 0;
    for (std::uint64_t i = 0; i < count && in.is_good(); ++i) {
      const std::uint32_t end = in.varint32();
      const LabelId label = read_label_id(in);
      const bool cuts_code_point = end < bytes.size() && is_utf8_continuation(bytes[end]);
      if (end <= begin || end > bytes.size() || cuts_code_point) in.reject();
      begin = end;
      spans->push_back({end, label});
    }
    if (count > 0 && begin != bytes.size()) in.reject();
    if (!in.is_good()) return {};
    auto* const object = new TextObject(std::string(bytes));
    if (count > 0) object->spans = std::move(spans);
    return Value::adopt(Tag::String, object);
  }

  Value read_map(Reader& in) {
    const std::uint64_t count = in.varint();
    if (count > in.size_left() || count > 2 * list_items_max) in.reject();
    auto* const object = new MapObject;
    Value map = Value::adopt(Tag::Map, object);
    for (std::uint64_t i = 0; i < count && in.is_good(); ++i) {
      Value key = read_value(in);
      Value value = read_value(in);
      if (key.tag() != Tag::String && (key.tag() != Tag::Unit || value.tag() != Tag::Unit)) in.reject();
      if (in.is_good()) object->slots.push_back({std::move(key), std::move(value)});
    }
    if (!in.is_good() || !object->rebuild()) in.reject();
    return map;
  }

  Value read_fields(Reader& in, Tag tag) {
    const TypeId type{in.varint32()};
    const std::uint32_t case_index = in.varint32();
    std::vector<Value> fields = read_values(in);
    const std::optional<std::size_t> count = in.is_good() ? field_count(tag, type, case_index) : std::nullopt;
    if (count != fields.size() || (tag == Tag::Variant && fields.empty())) {
      in.reject();
      return {};
    }
    return tag == Tag::Record ? Value::record(type, std::move(fields))
                              : Value::variant(type, case_index, std::move(fields));
  }

  Value read_context(Reader& in) {
    const std::uint64_t parent = in.varint();
    if (parent == 0) return Value::empty_context();
    const std::uint64_t role = in.varint();
    Value entry = read_value(in);
    const bool is_right = in.is_good() && parent <= objects_.size() && objects_[parent - 1].tag() == Tag::Context &&
                          role < bytecode::entry_role_count && entry.tag() == Tag::String;
    if (!is_right) {
      in.reject();
      return {};
    }
    const LabelId count = in.is_at_end() ? LabelId() : read_label_id(in);
    Value context = objects_[parent - 1];
    if (!push_entry(context, std::move(entry), state_->labels, static_cast<std::uint8_t>(role), count)) in.reject();
    return context;
  }

  BudgetScope read_scope() {
    BudgetScope scope;
    read_message(in_, [&](Reader& message, std::uint32_t number) {
      switch (number) {
        case form::scope_is_open:
          scope.is_open = message.value_up_to(1) != 0;
          return true;
        case form::scope_parent:
          scope.parent.index = message.value32() - 1U;
          return true;
        case form::scope_budget:
          scope.budget = message.value32() - 1U;
          return true;
        case form::scope_model_calls:
          scope.model_calls = message.value();
          return true;
        case form::scope_tokens:
          scope.tokens = message.value();
          return true;
        case form::scope_instructions:
          scope.instructions = message.value();
          return true;
        case form::scope_cost:
          scope.cost_millionths = message.value();
          return true;
        case form::scope_milliseconds:
          scope.milliseconds = message.value();
          return true;
        case form::scope_base_depth:
          scope.base_depth = message.value();
          return true;
        case form::scope_kind:
          scope.kind = static_cast<ScopeKind>(message.value_up_to(static_cast<std::uint64_t>(ScopeKind::Allowance)));
          return true;
        case form::scope_label:
          scope.label.index = message.value32();
          return true;
        case form::scope_bits_bound:
          scope.bounds.bits = message.value();
          return true;
        case form::scope_bits:
          scope.bits = message.value();
          return true;
        default:
          return bytecode::read_bound(message, form::scope_bounds, scope.bounds);
      }
    });
    return scope;
  }

  void read_fiber() {
    auto fiber = std::make_unique<Fiber>();
    read_message(in_, [&](Reader& message, std::uint32_t number) {
      switch (number) {
        case form::fiber_id:
          fiber->id.number = message.value();
          return true;
        case form::fiber_parent:
          fiber->parent.number = message.value() - 1U;
          return true;
        case form::fiber_branch:
          fiber->branch = message.value32();
          return true;
        case form::fiber_block_pc:
          fiber->block_pc = message.value32();
          return true;
        case form::fiber_budget_floor:
          fiber->budget_floor = message.value32();
          return true;
        case form::fiber_depth_base:
          fiber->depth_base = message.value();
          return true;
        case form::fiber_key:
          fiber->key = read_text(message);
          return true;
        case form::fiber_next_ordinal:
          fiber->next_ordinal = message.value();
          return true;
        case form::fiber_state:
          fiber->state = static_cast<FiberState>(message.value_up_to(static_cast<std::uint64_t>(FiberState::Joining)));
          return true;
        case form::fiber_ordinal:
          fiber->ordinal = message.value();
          return true;
        case form::fiber_request:
          fiber->request.number = message.value();
          return true;
        case form::fiber_is_request_taken:
          fiber->is_request_taken = message.value_up_to(1) != 0;
          return true;
        case form::fiber_block_started:
          fiber->block.started = message.value32();
          return true;
        case form::fiber_block_finished:
          fiber->block.finished = message.value32();
          return true;
        case form::fiber_block_values: {
          Reader packed(message.bytes_value());
          while (packed.is_good() && !packed.is_at_end()) fiber->block.values.push_back(read_value(packed));
          return packed.is_good();
        }
        case form::fiber_frames:
          return read_frames(message.bytes_value(), *fiber);
        case form::fiber_approval:
          fiber->approval = static_cast<Approval>(message.value_up_to(static_cast<std::uint64_t>(Approval::Given)));
          return true;
        case form::fiber_regions:
          return read_regions(message.bytes_value(), *fiber);
        case form::fiber_trials:
          return read_trials(message.bytes_value(), *fiber);
        case form::fiber_registers:
          return read_registers(message.bytes_value(), *fiber);
        case form::fiber_agent_state: {
          Reader packed(message.bytes_value());
          fiber->agent_state = read_value(packed);
          return packed.is_good() && packed.is_at_end();
        }
        case form::fiber_kept_states: {
          Reader packed(message.bytes_value());
          fiber->kept_states = read_value(packed);
          return packed.is_good() && packed.is_at_end() && is_kept_states(fiber->kept_states);
        }
        case form::fiber_awaited: {
          Reader packed(message.bytes_value());
          fiber->awaited = read_value(packed);
          return packed.is_good() && packed.is_at_end();
        }
        default:
          return false;
      }
    });
    // An absent id is that of the run itself.
    if (fiber->id.number == FiberId::none) fiber->id.number = 0;
    const FiberId id = fiber->id;
    if (!state_->fibers.empty() && !(state_->fibers.rbegin()->first < id)) in_.reject();
    if (in_.is_good()) state_->fibers.emplace_hint(state_->fibers.end(), id, std::move(fiber));
  }

  static bool read_frames(std::string_view bytes, Fiber& fiber) {
    Reader packed(bytes);
    while (packed.is_good() && !packed.is_at_end()) {
      Frame frame;
      frame.function = packed.varint32();
      frame.pc = packed.varint32();
      frame.base = packed.varint32();
      frame.scope.index = packed.varint32();
      frame.open_budgets = packed.varint32();
      fiber.frames.push_back(frame);
    }
    return packed.is_good();
  }

  static bool read_regions(std::string_view bytes, Fiber& fiber) {
    Reader packed(bytes);
    while (packed.is_good() && !packed.is_at_end()) {
      OpenRegion region;
      region.frame = packed.varint32();
      region.decision = packed.varint32();
      region.label.index = packed.varint32();
      fiber.regions.push_back(region);
    }
    return packed.is_good();
  }

  static bool read_trials(std::string_view bytes, Fiber& fiber) {
    Reader packed(bytes);
    while (packed.is_good() && !packed.is_at_end()) {
      Trial trial;
      trial.frame = packed.varint32();
      trial.handler = packed.varint32();
      trial.label.index = packed.varint32();
      trial.doubt.index = packed.varint32();
      trial.shown = packed.varint32();
      fiber.trials.push_back(trial);
    }
    return packed.is_good();
  }

  bool read_registers(std::string_view bytes, Fiber& fiber) {
    Reader packed(bytes);
    std::size_t count = 0;
    while (packed.is_good() && !packed.is_at_end()) {
      fiber.registers.reserve(count + 1);
      fiber.registers.data()[count++] = read_value(packed);
    }
    return packed.is_good();
  }

  void read_finished() {
    Reader packed(in_.bytes_value());
    Value value = read_value(packed);
    if (!packed.is_good() || !packed.is_at_end() || state_->end) in_.reject();
    state_->end = Finished{std::move(value)};
  }

  void read_failed() {
    FailureReport report;
    read_message(in_, [&](Reader& message, std::uint32_t number) {
      switch (number) {
        case form::failed_kind:
          report.kind = static_cast<types::FailureKind>(
              message.value_up_to(static_cast<std::uint64_t>(types::last_failure_kind)));
          return true;
        case form::failed_message:
          report.message = read_text(message);
          return true;
        case form::failed_place:
          report.place = read_text(message);
          return true;
        case form::failed_blame:
          report.blame = read_text(message);
          return true;
        case form::failed_label: {
          report.label = {message.value32()};
          return state_->labels.contains(report.label);
        }
        case form::failed_calls:
          return read_calls(message.bytes_value(), report.call_stack);
        case form::failed_left_out:
          report.call_stack.entries_left_out = message.value();
          return true;
        default:
          return false;
      }
    });
    if (state_->end) in_.reject();
    state_->end = Failed{std::move(report)};
  }

  bool read_calls(std::string_view bytes, CallStack& stack) {
    Reader packed(bytes);
    while (packed.is_good() && !packed.is_at_end()) {
      CallStackEntry entry;
      entry.function = packed.varint32();
      entry.place.file = packed.varint32();
      entry.place.line = packed.varint32();
      entry.place.column = packed.varint32();
      if (entry.function >= state_->program->callables().size() || stack.entries.size() >= call_stack_entries_max)
        return false;
      stack.entries.push_back(entry);
    }
    return packed.is_good();
  }

  void read_damaged() {
    Damaged damaged;
    read_message(in_, [&](Reader& message, std::uint32_t number) {
      switch (number) {
        case 1:
          damaged.message = read_text(message);
          return true;
        case 2:
          damaged.place = read_text(message);
          return true;
        default:
          return false;
      }
    });
    if (state_->end) in_.reject();
    state_->end = std::move(damaged);
  }

  std::unique_ptr<MachineState> state_;
  Reader in_;
  std::vector<Source> sources_;
  std::vector<std::vector<std::uint32_t>> label_sets_{{}};
  bool labels_stand_ = false;
  std::vector<Value> objects_;
};

}  // namespace

Result<Machine, SnapshotError> decode(std::shared_ptr<const LoadedProgram> program, std::string_view bytes) {
  return Decoder(std::move(program), bytes).run();
}

}  // namespace tenon::vm
