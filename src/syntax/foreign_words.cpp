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
    {"async", "remove it: there are no asynchronous functions, a call waits for its result", ""},
    {"await", "remove it: a call waits for its result", ""},
    {"class", "there are no classes: `struct` declares data, `impl` its methods", ""},
    {"const", "there are no global constants: a function without parameters returns a value", ""},
    {"def", "a function begins with `fn`", "fn"},
    {"elif", "use `else if`", "else if"},
    {"elseif", "use `else if`", "else if"},
    {"elsif", "use `else if`", "else if"},
    {"export", "remove it: other modules can use all declarations", ""},
    {"final", "remove it: every variable is mutable", ""},
    {"from", "`use module::name` imports a name", ""},
    {"func", "a function begins with `fn`", "fn"},
    {"function", "a function begins with `fn`", "fn"},
    {"import", "`use module` imports a module", "use"},
    {"interface", "there are no interfaces: `struct` declares data, `impl` its methods", ""},
    {"let", "there are no global variables: a function without parameters returns a value", ""},
    {"mod", "a module is a file: `use name` imports it", "use"},
    {"module", "a module is a file: `use name` imports it", ""},
    {"new", "remove it: `S { field: value }` constructs a struct", ""},
    {"null", "use `None`", ""},
    {"package", "a module is a file: `use name` imports it", ""},
    {"private", "remove it: other modules can use all declarations", ""},
    {"pub", "remove it: other modules can use all declarations", ""},
    {"public", "remove it: other modules can use all declarations", ""},
    {"raise", "a failure is raised with `fail(\"…\")`", ""},
    {"static", "there are no global variables: a function without parameters returns a value", ""},
    {"switch", "use `match`", "match"},
    {"throw", "a failure is raised with `fail(\"…\")`", ""},
    {"trait", "there are no traits: `impl` declares the methods of one type", ""},
    {"unsafe", "remove it: there is no unsafe code", ""},
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
