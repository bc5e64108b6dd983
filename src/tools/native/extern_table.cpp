#include "tools/native/extern_table.h"

#include <cxxabi.h>
#include <fmt/format.h>
#include <tenon/extern.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/ensure.h"
#include "tools/native/plain_types.h"
#include "tools/native/signature.h"
#include "types/suggest.h"

namespace tenon::tools {
namespace {

using bytecode::Extern;
using types::TypeId;
using types::TypeKind;
using types::TypeTable;
using vm::Value;

constexpr std::string_view entry_prefix = "tenon_extern_";
constexpr std::string_view free_suffix = "_free";
constexpr std::string_view free_of_library = "tenon_free";

using PlainAddress = void (*)();
using FreeText = void (*)(void*);

/// The first type inside of `type` that no extern can take or give: a Context, say.
std::optional<TypeId> find_uncarried(const TypeTable& types, TypeId type, std::set<TypeId>& seen) {
  if (!seen.insert(type).second) return std::nullopt;
  std::vector<TypeId> parts = types.get(type).arguments;
  switch (types.kind(type)) {
    case TypeKind::Error:
    case TypeKind::Never:
    case TypeKind::Context:
    case TypeKind::Range:
    case TypeKind::Parameter:
    case TypeKind::Closure:
      return type;
    case TypeKind::Struct:
      for (const types::Field& field : types.struct_type(type).fields) parts.push_back(field.type);
      break;
    case TypeKind::Enum:
      for (const types::Variant& variant : types.enum_type(type).variants) {
        parts.insert(parts.end(), variant.payload.begin(), variant.payload.end());
      }
      break;
    case TypeKind::Unit:
    case TypeKind::Boolean:
    case TypeKind::I32:
    case TypeKind::I64:
    case TypeKind::F64:
    case TypeKind::String:
    case TypeKind::Text:
    case TypeKind::List:
    case TypeKind::Map:
    case TypeKind::Option:
    case TypeKind::Result:
    case TypeKind::Tuple:
    case TypeKind::Union:
    case TypeKind::Refined:
      break;
  }
  for (const TypeId part : parts) {
    if (const auto found = find_uncarried(types, part, seen)) return found;
  }
  return std::nullopt;
}

/// The unqualified name of a C++ function, or nothing for other symbols: `add` of `_Z3addii`.
std::optional<std::string> cpp_function_name(std::string_view symbol) {
  if (!symbol.starts_with("_Z")) return std::nullopt;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(std::string(symbol).c_str(), nullptr, nullptr, &status), &std::free);
  if (status != 0 || demangled == nullptr) return std::nullopt;
  std::string name(demangled.get());
  const std::size_t parenthesis = name.find('(');
  if (parenthesis == std::string::npos) return std::nullopt;
  name.resize(parenthesis);
  return name;
}

/// The first plain type of an extern that plain C cannot carry, in words; nothing when it can carry all.
std::optional<std::string> find_not_plain(const TypeTable& types, const Extern& declared) {
  for (const TypeId parameter : declared.parameters) {
    if (!find_plain_parameter(types, parameter)) return fmt::format("takes `{}`", types.describe(parameter));
  }
  if (!find_plain_result(types, declared.result)) return fmt::format("gives `{}`", types.describe(declared.result));
  return std::nullopt;
}

}  // namespace

class ExternTable::Binder {
 public:
  Binder(const bytecode::Program& program, const NativeLibraries& libraries)
      : types_(program.types), libraries_(libraries) {}

  std::optional<Binding> bind(const Extern& declared) {
    const std::size_t problems_before = problems_.size();
    check_types(declared);
    const std::vector<Candidate> candidates = find_candidates(declared);
    if (candidates.size() > 1) tell_of_several(declared, candidates);
    if (candidates.empty()) tell_of_none(declared);
    if (problems_.size() != problems_before) return std::nullopt;
    const Candidate& found = candidates.front();
    return found.is_entry ? bind_entry(declared, found) : bind_plain(declared, found);
  }

  std::vector<ExternProblem> take_problems() { return std::move(problems_); }

 private:
  struct Candidate {
    const NativeLibrary* library;
    const ExportedSymbol* symbol;
    bool is_entry;  ///< made by TENON_EXTERN
  };

  ExternProblem& report(const Extern& declared, std::string message) {
    problems_.push_back({std::move(message), {}, declared.place});
    return problems_.back();
  }

  void check_types(const Extern& declared) {
    std::set<TypeId> seen;
    std::vector<TypeId> all = declared.parameters;
    all.push_back(declared.result);
    for (const TypeId type : all) {
      if (const auto found = find_uncarried(types_, type, seen)) {
        report(declared, fmt::format("`{}` is an extern, and no extern can take or give `{}`", declared.name,
                                     types_.describe(*found)));
        return;
      }
    }
  }

  std::vector<Candidate> find_candidates(const Extern& declared) const {
    std::vector<Candidate> candidates;
    for (const auto& library : libraries_.all()) {
      const ExportedSymbol* const entry = library->find_symbol(fmt::format("{}{}", entry_prefix, declared.name));
      const ExportedSymbol* const plain = library->find_symbol(declared.name);
      if (entry != nullptr) {
        candidates.push_back({library.get(), entry, true});
      } else if (plain != nullptr) {
        candidates.push_back({library.get(), plain, false});
      }
    }
    return candidates;
  }

  void tell_of_several(const Extern& declared, const std::vector<Candidate>& candidates) {
    std::string names;
    for (const Candidate& candidate : candidates) names += (names.empty() ? "" : ", ") + candidate.library->name();
    report(declared, fmt::format("`{}` is exported by {} libraries: {}", declared.name, candidates.size(), names))
        .hints.push_back("give the program only one of them");
  }

  void tell_of_none(const Extern& declared) {
    const bool is_plain = !find_not_plain(types_, declared);
    const std::string wanted = is_plain ? describe_prototype(types_, declared)
                                        : fmt::format("TENON_EXTERN({}) {{ … }}  // tenon/extern.h", declared.name);
    if (libraries_.all().empty()) {
      ExternProblem& problem =
          report(declared, fmt::format("`{}` is an extern, and no library is given", declared.name));
      problem.hints.push_back(
          "give a library with `--extern FILE.so`, or in tenon.toml: `[externs] libraries = [\"FILE.so\"]`");
      problem.hints.push_back(fmt::format("the library has to define: {}", wanted));
      return;
    }
    ExternProblem& problem =
        report(declared, fmt::format("`{}` is an extern, and no library exports it", declared.name));
    problem.hints.push_back(fmt::format("searched: {}", libraries_.describe()));
    std::vector<std::string_view> names;
    for (const auto& library : libraries_.all()) {
      for (const ExportedSymbol& symbol : library->symbols()) {
        const bool is_entry = symbol.name.starts_with(entry_prefix);
        names.push_back(is_entry ? symbol.name.substr(entry_prefix.size()) : symbol.name);
        if (cpp_function_name(symbol.name) == declared.name) {
          problem.hints.push_back(
              fmt::format("{} exports the C++ function `{}`; declare it `extern \"C\"`", library->name(), symbol.name));
        }
      }
    }
    if (const auto nearest = types::find_nearest(declared.name, names)) {
      problem.hints.push_back(fmt::format("there is `{}`", *nearest));
    }
    problem.hints.push_back(fmt::format("a library has to define: {}", wanted));
  }

  std::optional<Binding> bind_plain(const Extern& declared, const Candidate& found) {
    if (const auto not_plain = find_not_plain(types_, declared)) {
      report(declared, fmt::format("`{}` {}, which plain C cannot carry, and {} exports it as a plain symbol",
                                   declared.name, *not_plain, found.library->name()))
          .hints.push_back(fmt::format("write it with tenon/extern.h: TENON_EXTERN({}) {{ … }}", declared.name));
      return std::nullopt;
    }
    if (found.symbol->kind != SymbolKind::Function) {
      report(declared,
             fmt::format("`{}` is an extern, and {} exports data of that name", declared.name, found.library->name()))
          .hints.push_back(fmt::format("a library has to define: {}", describe_prototype(types_, declared)));
      return std::nullopt;
    }
    void* const address = address_of(declared, found);
    if (address == nullptr) return std::nullopt;
    std::vector<PlainType> parameters;
    for (const TypeId parameter : declared.parameters) parameters.push_back(*find_plain_parameter(types_, parameter));
    const PlainType result = *find_plain_result(types_, declared.result);
    return Binding{
        std::make_unique<PlainFunction>(std::bit_cast<PlainAddress>(address), std::move(parameters), result,
                                        result == PlainType::String ? find_free(declared, *found.library) : nullptr),
        describe_blame(declared, found)};
  }

  /// `NAME_free`, else `tenon_free`, else null: the texts stay the library's.
  static FreeText find_free(const Extern& declared, const NativeLibrary& library) {
    for (const std::string& name : {fmt::format("{}{}", declared.name, free_suffix), std::string(free_of_library)}) {
      const ExportedSymbol* const symbol = library.find_symbol(name);
      if (symbol != nullptr && symbol->kind == SymbolKind::Function) {
        return std::bit_cast<FreeText>(library.address_of(*symbol));
      }
    }
    return nullptr;
  }

  std::optional<Binding> bind_entry(const Extern& declared, const Candidate& found) {
    void* const address = found.symbol->kind == SymbolKind::Data ? address_of(declared, found) : nullptr;
    const auto* const entry = static_cast<const tenon_extern_entry*>(address);
    // The signature came last into version 1.
    constexpr std::size_t size_min = offsetof(tenon_extern_entry, signature) + sizeof(const char*);
    if (entry == nullptr || found.symbol->size < size_min || entry->size < size_min || entry->function == nullptr) {
      report(declared,
             fmt::format("`{}` of {} was not made by TENON_EXTERN", found.symbol->name, found.library->name()));
      return std::nullopt;
    }
    if (entry->abi == 0 || entry->abi > TENON_EXTERN_ABI) {
      report(declared, fmt::format("`{}` of {} was built for version {} of tenon/extern.h; this Tenon knows {}",
                                   declared.name, found.library->name(), entry->abi, TENON_EXTERN_ABI))
          .hints.push_back("build the library with the header of this Tenon, or use a newer Tenon");
      return std::nullopt;
    }
    if (entry->signature != nullptr) {
      if (const auto disagreement = find_disagreement(entry->signature, types_, declared)) {
        ExternProblem& problem = report(declared, fmt::format("`{}` of {} is not what is declared: {}", declared.name,
                                                              found.library->name(), *disagreement));
        problem.hints.push_back(fmt::format("the library has `{}{}`", declared.name, entry->signature));
        problem.hints.push_back(fmt::format("declared is `{}{}`", declared.name, describe_signature(types_, declared)));
        return std::nullopt;
      }
    }
    return Binding{entry->function, describe_blame(declared, found)};
  }

  void* address_of(const Extern& declared, const Candidate& found) {
    void* const address = found.library->address_of(*found.symbol);
    if (address == nullptr) {
      report(declared,
             fmt::format("the dynamic linker does not give `{}` of {}", found.symbol->name, found.library->name()));
    }
    return address;
  }

  static std::string describe_blame(const Extern& declared, const Candidate& found) {
    return fmt::format("extern `{}` of {}", declared.name, found.library->name());
  }

  const TypeTable& types_;
  const NativeLibraries& libraries_;
  std::vector<ExternProblem> problems_;
};

ExternTable::ExternTable(std::shared_ptr<const bytecode::Program> program)
    : program_(std::move(program)), promises_(program_->types) {}

Result<std::shared_ptr<const ExternTable>, std::vector<ExternProblem>> ExternTable::bind(
    std::shared_ptr<const bytecode::Program> program, const NativeLibraries& libraries) {
  std::shared_ptr<ExternTable> table(new ExternTable(std::move(program)));
  Binder binder(*table->program_, libraries);
  for (const Extern& declared : table->program_->externs) {
    if (declared.world_call != types::WorldCall::Native) {
      table->bindings_.emplace_back();  // the runtime performs it
      continue;
    }
    if (auto binding = binder.bind(declared)) table->bindings_.push_back(std::move(*binding));
  }
  auto problems = binder.take_problems();
  if (!problems.empty()) return failure(std::move(problems));
  return std::shared_ptr<const ExternTable>(std::move(table));
}

ExternOutcome ExternTable::call(std::uint32_t subject, std::span<const Value> arguments,
                                const CallCircumstances& circumstances) const {
  const Extern& declared = program_->externs[subject];
  const Binding& binding = bindings_[subject];
  ENSURE(arguments.size() == declared.parameters.size());
  if (const auto* const plain = std::get_if<std::unique_ptr<PlainFunction>>(&binding.function)) {
    auto value = (*plain)->call(arguments);
    if (!value) return failure(ExternError{types::FailureKind::ToolFailed, std::move(value.error()), binding.blame});
    if (auto broken = promises_.find_broken(declared.result, *value)) {
      return failure(ExternError{types::FailureKind::ToolFailed, "the result: " + *broken, binding.blame});
    }
    return std::move(*value);
  }
  auto value = call_header_function(std::get<HeaderFunction>(binding.function), program_->types, promises_,
                                    declared.result, arguments, binding.blame, circumstances);
  if (!value) return failure(ExternError{types::FailureKind::ToolFailed, std::move(value.error()), binding.blame});
  return std::move(*value);
}

BindingKind ExternTable::kind(std::uint32_t subject) const {
  const bool is_plain = std::holds_alternative<std::unique_ptr<PlainFunction>>(bindings_[subject].function);
  return is_plain ? BindingKind::PlainSymbol : BindingKind::Header;
}

}  // namespace tenon::tools
