#include "inference/answers/key_words.h"

#include <set>
#include <utility>

#include "inference/answers/outline.h"
#include "json/text.h"

namespace tenon::inference::answers {
namespace {

using types::TypeId;
using types::TypeKind;

class KeyWordLister {
 public:
  explicit KeyWordLister(const types::TypeTable& types) : types_(types) {}

  /// `is_described`: the key has words of its own, which take precedence over those of an enum.
  void visit(TypeId type, const std::string& key, bool is_described = false) {
    const TypeId base = types_.base(type);
    switch (types_.kind(base)) {
      case TypeKind::List:
      case TypeKind::Map:
      case TypeKind::Option:
      case TypeKind::Secret:
        return visit(types_.get(base).arguments[0], key, is_described);
      case TypeKind::Tuple:
        for (const TypeId item : types_.get(base).arguments) visit(item, key, is_described);
        return;
      case TypeKind::Struct:
        if (visited_.insert(base.index).second) visit_struct(types_.struct_type(base), key);
        return;
      case TypeKind::Enum:
        if (visited_.insert(base.index).second) visit_enum(types_.enum_type(base), key, is_described);
        return;
      default:
        return;
    }
  }

  void visit_result(const AnswerShape& shape) {
    const bool is_described = shape.wrapping == Wrapping::Wrapped && !shape.documentation.empty();
    if (is_described) add("", shape.documentation);
    visit(shape.result, "", is_described);
  }

  std::vector<KeyWords> take() { return std::move(found_); }

 private:
  void add(std::string key, std::string_view words) {
    if (!words.empty()) found_.push_back({std::move(key), flatten(words)});
  }

  static std::string inside(const std::string& key, const std::string& name) {
    return key.empty() ? name : key + "." + name;
  }

  void visit_struct(const types::StructType& type, const std::string& key) {
    add(key, type.documentation);
    for (const types::Field& field : type.fields) {
      const std::string inner = inside(key, field.name);
      add(inner, field.documentation);
      visit(field.type, inner, !field.documentation.empty());
    }
  }

  void visit_enum(const types::EnumType& type, const std::string& key, bool is_described) {
    if (!is_described) add(key, type.documentation);
    for (const types::Variant& variant : type.variants) {
      add((key.empty() ? "" : key + " ") + make_json_string(variant.name), variant.documentation);
      for (const TypeId item : variant.payload) visit(item, inside(key, variant.name));
    }
  }

  const types::TypeTable& types_;
  std::set<std::uint32_t> visited_;
  std::vector<KeyWords> found_;
};

}  // namespace

std::vector<KeyWords> list_key_words(const types::TypeTable& types, const AnswerShape& shape) {
  KeyWordLister lister(types);
  switch (shape.kind) {
    case bytecode::SiteKind::Completion:
      lister.visit_result(shape);
      break;
    case bytecode::SiteKind::Fill:
      for (const AnswerItem& item : shape.clauses.front().items) lister.visit(item.type, item.key);
      break;
    case bytecode::SiteKind::Select:
      for (const AnswerClause& clause : shape.clauses) {
        for (const AnswerItem& item : clause.items) lister.visit(item.type, clause.function + "." + item.key);
      }
      break;
  }
  return lister.take();
}

}  // namespace tenon::inference::answers
