#include "tools/native/extern_table.h"

#include <cxxabi.h>
#include <fmt/format.h>
#include <tenon/extern.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

#include "base/ensure.h"
#include "bytecode/codec.h"
#include "diagnostics/kinds.h"
#include "diagnostics/nearest.h"
#include "tools/native/plain_types.h"
#include "tools/native/promises.h"
#include "tools/native/signature.h"
#include "types/table/type_parts.h"

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

/// The first part of `type` that no extern can take or give: a Context, say; an absent id if there is none.
TypeId find_not_carried(const TypeTable& types, TypeId type) {
  return types::find_within(types, type, types::TypeParts::OfValues,
                            [&](TypeId part) { return !types::can_leave_run(types.kind(part)); });
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

/// A type of an extern that its library's function cannot carry.
struct NotCarried {
  TypeId type;
  std::string_view verb;  ///< takes or gives
};

/// The first one that plain C cannot carry; nothing when it can carry all.
std::optional<NotCarried> find_not_plain(const TypeTable& types, const Extern& declared) {
  for (const TypeId parameter : declared.parameters) {
    if (!find_plain_parameter(types, parameter)) return NotCarried{parameter, "takes"};
  }
  if (!find_plain_result(types, declared.result)) return NotCarried{declared.result, "returns"};
  return std::nullopt;
}

}  // namespace

class ExternTable::Binder {
 public:
  Binder(const bytecode::Program& program, const NativeLibraries& libraries, std::span<const std::string> provided,
         std::vector<PythonFile> python)
      : types_(program.types), libraries_(libraries), provided_(provided) {
    for (PythonFile& file : python) python_.push_back(std::make_shared<const PythonFile>(std::move(file)));
  }

  std::optional<Binding> bind(std::uint32_t subject, const Extern& declared) {
    subject_ = subject;
    const std::size_t problems_before = problems_.size();
    check_types(declared);
    if (std::find(provided_.begin(), provided_.end(), declared.name) != provided_.end()) {
      if (problems_.size() != problems_before) return std::nullopt;
      return Binding{{}, fmt::format("extern `{}`", declared.name), {}, {}, {}, true, nullptr};
    }
    const std::vector<Candidate> candidates = find_candidates(declared);
    if (candidates.size() > 1) report_several(declared, candidates);
    if (candidates.empty()) report_none(declared);
    if (problems_.size() != problems_before) return std::nullopt;
    const Candidate& found = candidates.front();
    if (found.python != nullptr) return bind_python(declared, found.python);
    return found.is_entry ? bind_entry(declared, found) : bind_plain(declared, found);
  }

  std::vector<ExternProblem> take_problems() { return std::move(problems_); }

 private:
  struct Candidate {
    const NativeLibrary* library;
    const ExportedSymbol* symbol;
    bool is_entry;                             ///< made by TENON_EXTERN
    std::shared_ptr<const PythonFile> python;  ///< without a library and a symbol
    [[nodiscard]] const std::string& name() const { return python ? python->name() : library->name(); }
  };

  template <class... Arguments>
  ExternProblem& report(const Extern& declared, const diagnostics::DiagnosticKind<Arguments...>& kind,
                        const std::type_identity_t<Arguments>&... arguments) {
    problems_.push_back(make_problem(kind, arguments...));
    problems_.back().place = declared.place;
    problems_.back().subject = subject_;
    return problems_.back();
  }

  void check_types(const Extern& declared) {
    const auto check = [&](TypeId type, std::string_view verb) {
      const TypeId found = find_not_carried(types_, type);
      if (found.exists()) {
        report(declared, diagnostics::ExternTypeNotSupported, declared.name, verb, types_.describe(found), "an extern");
      }
      return !found.exists();
    };
    for (const TypeId parameter : declared.parameters) {
      if (!check(parameter, "takes")) return;
    }
    check(declared.result, "returns");
  }

  std::vector<Candidate> find_candidates(const Extern& declared) const {
    std::vector<Candidate> candidates;
    for (const auto& library : libraries_.all()) {
      const ExportedSymbol* const entry = library->find_symbol(fmt::format("{}{}", entry_prefix, declared.name));
      const ExportedSymbol* const plain = library->find_symbol(declared.name);
      if (entry != nullptr) {
        candidates.push_back({library.get(), entry, true, nullptr});
      } else if (plain != nullptr) {
        candidates.push_back({library.get(), plain, false, nullptr});
      }
    }
    for (const auto& file : python_) {
      if (file->defines(declared.name)) candidates.push_back({nullptr, nullptr, false, file});
    }
    return candidates;
  }

  void report_several(const Extern& declared, const std::vector<Candidate>& candidates) {
    std::string names;
    for (const Candidate& candidate : candidates) names += (names.empty() ? "" : ", ") + candidate.name();
    report(declared, diagnostics::ExternAmbiguous, declared.name, candidates.size(), names)
        .hint("pass only one of them");
  }

  void report_none(const Extern& declared) {
    const bool is_plain = !find_not_plain(types_, declared);
    const std::string wanted = is_plain ? describe_prototype(types_, declared)
                                        : fmt::format("TENON_EXTERN({}) {{ … }}  // tenon/extern.h", declared.name);
    if (libraries_.all().empty() && python_.empty()) {
      ExternProblem& problem = report(declared, diagnostics::ExternNotFound, declared.name, "was given");
      problem.hints.push_back(
          "pass a library with `--extern FILE.so` or a Python file with `--extern FILE.py`, or add `[externs] "
          "libraries = "
          "[\"FILE.so\"]` to tenon.toml");
      problem.hints.push_back(fmt::format("the library must define: {}", wanted));
      return;
    }
    ExternProblem& problem = report(declared, diagnostics::ExternNotFound, declared.name, "exports it");
    std::vector<std::string_view> names;
    std::string searched = libraries_.describe();
    for (const auto& file : python_) {
      searched += (searched.empty() ? "" : ", ") + file->name();
      names.insert(names.end(), file->functions().begin(), file->functions().end());
    }
    problem.hints.push_back(fmt::format("searched: {}", searched));
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
    if (const auto nearest = diagnostics::find_nearest(declared.name, names)) {
      problem.hints.push_back(fmt::format("did you mean `{}`?", *nearest));
    }
    if (libraries_.all().empty()) {
      problem.hints.push_back(fmt::format("the file must define a function `{}`", declared.name));
    } else {
      problem.hints.push_back(fmt::format("a library must define: {}", wanted));
    }
  }

  std::optional<Binding> bind_python(const Extern& declared, const std::shared_ptr<const PythonFile>& file) {
    if (const auto& disagreement = file->problem(declared.name)) {
      report(declared, diagnostics::ExternSignatureMismatch, declared.name, file->name(), *disagreement);
      return std::nullopt;
    }
    return Binding{
        {}, fmt::format("extern `{}` of {}", declared.name, file->name()), file->name(), file->path(), {}, false, file};
  }

  std::optional<Binding> bind_plain(const Extern& declared, const Candidate& found) {
    if (const auto not_plain = find_not_plain(types_, declared)) {
      ExternProblem& problem = report(declared, diagnostics::ExternTypeNotSupported, declared.name, not_plain->verb,
                                      types_.describe(not_plain->type), "plain C");
      problem.hint(fmt::format("{} exports it as a plain symbol", found.library->name()));
      problem.hint(fmt::format("write it with tenon/extern.h: TENON_EXTERN({}) {{ … }}", declared.name));
      return std::nullopt;
    }
    if (found.symbol->kind != SymbolKind::Function) {
      report(declared, diagnostics::ExternIsData, declared.name, found.library->name())
          .hints.push_back(fmt::format("a library must define: {}", describe_prototype(types_, declared)));
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
        describe_blame(declared, found),
        found.library->name(),
        found.library->full_name(),
        {},
        false,
        nullptr};
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
      report(declared, diagnostics::ExternNotUsable, std::string(found.symbol->name), found.library->name(),
             "it was not defined with TENON_EXTERN");
      return std::nullopt;
    }
    if (entry->abi == 0 || entry->abi > TENON_EXTERN_ABI) {
      report(declared, diagnostics::ExternTooNew, declared.name, found.library->name(), entry->abi, TENON_EXTERN_ABI)
          .hints.push_back("rebuild the library with this version's header, or use a newer version of Tenon");
      return std::nullopt;
    }
    if (entry->signature != nullptr) {
      if (const auto disagreement = find_disagreement(entry->signature, types_, declared)) {
        ExternProblem& problem =
            report(declared, diagnostics::ExternSignatureMismatch, declared.name, found.library->name(), *disagreement);
        problem.hints.push_back(fmt::format("the library has `{}{}`", declared.name, entry->signature));
        problem.hints.push_back(
            fmt::format("the program declares `{}{}`", declared.name, describe_signature(types_, declared)));
        return std::nullopt;
      }
    }
    return Binding{
        entry->function, describe_blame(declared, found), found.library->name(), found.library->full_name(), {}, false,
        nullptr};
  }

  void* address_of(const Extern& declared, const Candidate& found) {
    void* const address = found.library->address_of(*found.symbol);
    if (address == nullptr) {
      report(declared, diagnostics::ExternNotUsable, std::string(found.symbol->name), found.library->name(),
             "the dynamic linker cannot resolve it");
    }
    return address;
  }

  static std::string describe_blame(const Extern& declared, const Candidate& found) {
    return fmt::format("extern `{}` of {}", declared.name, found.library->name());
  }

  const TypeTable& types_;
  const NativeLibraries& libraries_;
  const std::span<const std::string> provided_;
  std::vector<std::shared_ptr<const PythonFile>> python_;
  std::uint32_t subject_ = 0;  ///< the extern that is being bound
  std::vector<ExternProblem> problems_;
};

ExternTable::ExternTable(std::shared_ptr<const bytecode::Program> program)
    : program_(std::move(program)), refinements_(program_->types) {}

Result<std::shared_ptr<const ExternTable>, std::vector<ExternProblem>> ExternTable::bind(
    std::shared_ptr<const bytecode::Program> program, const NativeLibraries& libraries,
    std::span<const std::string> provided, std::vector<PythonFile> python) {
  std::shared_ptr<ExternTable> table(new ExternTable(std::move(program)));
  Binder binder(*table->program_, libraries, provided, std::move(python));
  for (std::uint32_t subject = 0; subject < table->program_->externs.size(); ++subject) {
    const Extern& declared = table->program_->externs[subject];
    if (declared.builtin_effect != types::BuiltinEffect::Native) {
      table->bindings_.emplace_back();  // the runtime performs it
      continue;
    }
    auto binding = binder.bind(subject, declared);
    if (!binding) continue;
    if (declared.call_options.is_process && !binding->is_provided && binding->python == nullptr) {
      bytecode::Program alone;
      alone.types = table->program_->types;
      alone.externs.push_back(declared);
      binding->worker_program = bytecode::encode(alone);
    }
    table->bindings_.push_back(std::move(*binding));
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
    if (auto broken = find_broken_promise(refinements_, declared.result, *value)) {
      return failure(ExternError{types::FailureKind::ToolFailed, "the result: " + *broken, binding.blame});
    }
    return std::move(*value);
  }
  return call_header_function(std::get<HeaderFunction>(binding.function), refinements_, declared.result, arguments,
                              binding.blame, circumstances);
}

BindingKind ExternTable::kind(std::uint32_t subject) const {
  if (bindings_[subject].is_provided) return BindingKind::Provided;
  if (bindings_[subject].python != nullptr) return BindingKind::Python;
  const bool is_plain = std::holds_alternative<std::unique_ptr<PlainFunction>>(bindings_[subject].function);
  return is_plain ? BindingKind::PlainSymbol : BindingKind::Header;
}

}  // namespace tenon::tools
