#include "syntax/foreign_words.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace tenon::syntax {
namespace {

struct ForeignWord {
  std::string_view word;
  std::string_view hint;
  std::string_view fix;  ///< what is written instead; empty if that is not sufficient
};
/// Words that start a declaration or a statement in other languages; sorted by word.
constexpr ForeignWord foreign_words[] = {
    {"class", "there are no classes: `struct` declares data, `impl` its methods", ""},
    {"const", "there are no global constants: a function without parameters returns a value", ""},
    {"def", "a function begins with `fn`", "fn"},
    {"elif", "another condition begins with `else if`", "else if"},
    {"elsif", "another condition begins with `else if`", "else if"},
    {"from", "`use module::name` imports a name", ""},
    {"func", "a function begins with `fn`", "fn"},
    {"function", "a function begins with `fn`", "fn"},
    {"import", "`use module` imports a module", "use"},
    {"interface", "there are no interfaces: `struct` declares data, `impl` its methods", ""},
    {"module", "a module is a file: `use name` imports it", ""},
    {"null", "no value is written `None`", ""},
    {"package", "a module is a file: `use name` imports it", ""},
    {"switch", "`match` chooses by a value", "match"},
    {"trait", "there are no traits: `impl` declares the methods of one type", ""},
    {"var", "there are no global variables: a function without parameters returns a value", ""},
};

const ForeignWord* find_foreign_word(std::string_view word) {
  const auto found = std::ranges::find(foreign_words, word, &ForeignWord::word);
  return found == std::end(foreign_words) ? nullptr : &*found;
}

}  // namespace

bool is_foreign_word(std::string_view word) {
  return find_foreign_word(word) != nullptr;
}

void hint_foreign_word(diagnostics::Diagnostic& report, std::string_view word, source::Span span) {
  const ForeignWord* const foreign = find_foreign_word(word);
  if (foreign == nullptr) return;
  report.hint(std::string(foreign->hint));
  if (!foreign->fix.empty()) report.fix = {span, std::string(foreign->fix)};
}

}  // namespace tenon::syntax
