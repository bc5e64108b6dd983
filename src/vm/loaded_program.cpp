#include "vm/loaded_program.h"

#include <algorithm>

#include "bytecode/verifier.h"
#include "types/table/type_parts.h"
#include "vm/values/object.h"
#include "vm/values/text.h"

namespace tenon::vm {
namespace {

Value make_constant(const bytecode::Constant& constant) {
  if (const auto* const boolean = std::get_if<bool>(&constant)) return Value::boolean(*boolean);
  if (const auto* const integer = std::get_if<std::int64_t>(&constant)) return Value::integer(*integer);
  if (const auto* const number = std::get_if<double>(&constant)) return Value::floating(*number);
  if (const auto* const text = std::get_if<std::string>(&constant)) {
    Value value = Value::string(*text);
    // Runs on several threads share it: everything is computed in advance, and references are not counted.
    static_cast<void>(code_points(value));
    value.object()->references = Object::immortal;
    return value;
  }
  return {};
}

/// By type: whether a struct within it has trusted fields. Empty if there is none.
std::vector<bool> find_vouched_types(const types::TypeTable& types) {
  const auto has_trusted_field = [&](types::TypeId type) {
    return types.kind(type) == types::TypeKind::Struct &&
           std::ranges::any_of(types.struct_type(type).fields, &types::Field::is_trusted);
  };
  bool has_some = false;
  for (types::TypeId type{0}; type.index < types.size() && !has_some; ++type.index) has_some = has_trusted_field(type);
  std::vector<bool> found;
  for (types::TypeId type{0}; type.index < types.size() && has_some; ++type.index) {
    found.push_back(types::find_within(types, type, types::TypeParts::OfValues, has_trusted_field).exists());
  }
  return found;
}

}  // namespace

Result<std::shared_ptr<const LoadedProgram>, LoadError> LoadedProgram::load(
    std::shared_ptr<const bytecode::Program> program, JsonReaderMaker* make_json_reader) {
  if (auto verified = bytecode::verify(*program); !verified)
    return failure(LoadError{bytecode::describe(verified.error())});
  std::shared_ptr<LoadedProgram> loaded(new LoadedProgram(std::move(program)));
  if (const std::string& problem = loaded->refinements().problem(); !problem.empty()) {
    return failure(LoadError{problem});
  }
  const bytecode::Program& source = *loaded->program_;
  if (make_json_reader != nullptr) {
    loaded->json_reader_ = make_json_reader(loaded->refinements(), source.messages);
  }
  loaded->vouched_types_ = find_vouched_types(source.types);
  for (std::uint32_t index = 0; index < source.functions.size(); ++index) {
    const bytecode::Function& function = source.functions[index];
    loaded->callables_.push_back({loaded->control_regions_.code_with_trials(index), function.register_count,
                                  static_cast<std::uint32_t>(function.parameters.size())});
  }
  for (const bytecode::Constant& constant : source.constants) {
    loaded->constants_.push_back(make_constant(constant));
    const Value& value = loaded->constants_.back();
    if (value.is_object()) loaded->constant_index_.emplace(value.object(), loaded->constant_count() - 1);
  }
  return loaded;
}

LoadedProgram::~LoadedProgram() {
  for (Value& constant : constants_) {
    if (constant.is_object()) constant.object()->references = 1;
  }
}

std::uint32_t LoadedProgram::find_constant(const Object* object) const {
  const auto found = constant_index_.find(object);
  return found == constant_index_.end() ? UINT32_MAX : found->second;
}

bytecode::Place LoadedProgram::place_of(std::uint32_t function, std::uint32_t pc) const {
  const bytecode::Function& owner = program_->functions[function];
  const auto next = std::ranges::upper_bound(owner.lines, pc, {}, &bytecode::LineEntry::pc);
  return next == owner.lines.begin() ? owner.place : std::prev(next)->place;
}

std::string LoadedProgram::describe(const bytecode::Place& place) const {
  const std::string path = place.file < program_->sources.size() ? program_->sources[place.file].path : "?";
  return replace_invalid_utf8(path) + ':' + std::to_string(place.line) + ':' + std::to_string(place.column);
}

}  // namespace tenon::vm
