#include "tools/native/signature.h"
#include "base/counted.h"

#include <fmt/format.h>

#include <utility>
#include <variant>
#include <vector>

namespace tenon::tools {
namespace {

using types::TypeId;
using types::TypeKind;
using types::TypeTable;

/// A signature comes from a library that is trusted to run; the bound keeps a mistaken pointer from ending in a stack
/// overflow.
constexpr int depth_max = 64;

/// `()` has the name `()`, a tuple `(…)`, and `T?` is `Option<T>`.
struct WrittenType {
  std::string name;
  std::vector<WrittenType> arguments;
};

struct WrittenSignature {
  std::vector<WrittenType> parameters;
  WrittenType result;
};

class SignatureParser {
 public:
  explicit SignatureParser(std::string_view text) : rest_(text) {}

  std::optional<WrittenSignature> parse() {
    WrittenSignature signature;
    if (!take("(") || !parse_list(")", signature.parameters, 0) || !take("->")) return std::nullopt;
    if (!parse_type(signature.result, 0)) return std::nullopt;
    skip_blanks();
    if (!rest_.empty()) return std::nullopt;
    return signature;
  }

 private:
  void skip_blanks() {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
  }
  bool take(std::string_view token) {
    skip_blanks();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  bool parse_list(std::string_view end, std::vector<WrittenType>& items, int depth) {
    if (take(end)) return true;
    do {
      if (!parse_type(items.emplace_back(), depth + 1)) return false;
    } while (take(","));
    return take(end);
  }
  bool parse_type(WrittenType& type, int depth) {
    if (depth > depth_max) return false;
    if (take("(")) {
      if (!parse_list(")", type.arguments, depth)) return false;
      type.name = type.arguments.empty() ? "()" : "(…)";
    } else {
      skip_blanks();
      std::size_t length = 0;
      while (length < rest_.size() && (std::string_view("<>(),?- ").find(rest_[length]) == std::string_view::npos))
        ++length;
      if (length == 0) return false;
      type.name = rest_.substr(0, length);
      rest_.remove_prefix(length);
      if (take("<") && !parse_list(">", type.arguments, depth)) return false;
    }
    while (take("?")) {
      WrittenType held = std::exchange(type, WrittenType{"Option", {}});
      type.arguments.push_back(std::move(held));
    }
    return true;
  }

  std::string_view rest_;
};

class Comparison {
 public:
  explicit Comparison(const TypeTable& types) : types_(types) {}

  bool agree(const WrittenType& written, TypeId declared) const {
    if (written.name == "_") return true;
    for (TypeId at = declared;; at = types_.get(at).arguments[0]) {
      if (types_.kind(at) == TypeKind::Secret) continue;  // native code has it open
      if (types_.kind(at) != TypeKind::Refined) return agree_base(written, at);
      if (!types_.refinement(at).name.empty() && types_.refinement(at).name == written.name) return true;
    }
  }

 private:
  bool agree_all(const std::vector<WrittenType>& written, std::size_t count, TypeId declared) const {
    if (written.size() < count) return false;
    for (std::size_t i = 0; i < count; ++i) {
      if (!agree(written[i], types_.get(declared).arguments[i])) return false;
    }
    return true;
  }
  bool agree_base(const WrittenType& written, TypeId type) const {
    switch (types_.kind(type)) {
      case TypeKind::Unit:
        return written.name == "()";
      case TypeKind::Boolean:
        return written.name == "Boolean";
      case TypeKind::I32:
        return written.name == "i32";
      case TypeKind::I64:
        return written.name == "i64";
      case TypeKind::F64:
        return written.name == "f64";
      case TypeKind::String:
        return written.name == "String";
      case TypeKind::Text:
        return written.name == "String" || written.name == types_.get(type).name;
      case TypeKind::List:
        return written.name == "List" && agree_all(written.arguments, 1, type);
      case TypeKind::Map:
        return written.name == "Map" && agree_all(written.arguments, 1, type);
      case TypeKind::Option:
        return written.name == "Option" && agree_all(written.arguments, 1, type);
      case TypeKind::Result:
        return written.name == "Result" && agree_all(written.arguments, 1, type);
      case TypeKind::Tuple: {
        const std::size_t count = types_.get(type).arguments.size();
        return written.name == "(…)" && written.arguments.size() == count && agree_all(written.arguments, count, type);
      }
      case TypeKind::Struct:
        return written.name == types_.struct_type(type).name;
      case TypeKind::Enum:
        return written.name == types_.enum_type(type).name;
      case TypeKind::Union: {
        const types::UnionType& literals = types_.union_type(type);
        const bool of_texts = std::holds_alternative<std::vector<std::string>>(literals.literals);
        return written.name == (of_texts ? "String" : "i64") ||
               (!literals.name.empty() && written.name == literals.name);
      }
      case TypeKind::Error:
      case TypeKind::Never:
      case TypeKind::Refined:
      case TypeKind::Secret:
      case TypeKind::Context:
      case TypeKind::Range:
      case TypeKind::Parameter:
      case TypeKind::Closure:
      case TypeKind::Tools:
        return false;
    }
    return false;
  }

  const TypeTable& types_;
};

}  // namespace

std::optional<std::string> find_disagreement(std::string_view signature, const TypeTable& types,
                                             const bytecode::Extern& declared) {
  const auto written = SignatureParser(signature).parse();
  if (!written)
    return fmt::format("its signature `{}` cannot be parsed; write it like `(List<Order>, i32) -> String`", signature);
  const Comparison comparison(types);
  if (written->parameters.size() != declared.parameters.size()) {
    return fmt::format("it takes {}, and the declaration has {}", counted(written->parameters.size(), "argument"),
                       declared.parameters.size());
  }
  for (std::size_t i = 0; i < declared.parameters.size(); ++i) {
    if (!comparison.agree(written->parameters[i], declared.parameters[i])) {
      return fmt::format("argument {} is declared `{}`", i + 1, types.describe(declared.parameters[i]));
    }
  }
  if (!comparison.agree(written->result, declared.result)) {
    return fmt::format("its result is declared `{}`", types.describe(declared.result));
  }
  return std::nullopt;
}

}  // namespace tenon::tools
