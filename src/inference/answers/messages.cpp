#include "inference/answers/messages.h"

#include <iterator>

namespace tenon::inference::answers {
namespace {

struct MessageTexts {
  Message message;
  std::string_view first;
  std::string_view second;
};

/// `{0}` and so on: the arguments. An `outline` is what make_outline returns, a `value` is what `describe` returns.
constexpr MessageTexts texts[] = {
    // value, outline
    {Message::WrongType, "is {0}, where {1} is asked for", "expected {1}, found {0}"},
    // outline
    {Message::WrongSecret, "is a secret of another form; {0} is asked for", "invalid secret: expected {0}"},
    {Message::WrongSecretPart, "is none of {0}", "expected {0}"},
    // type
    {Message::NotRepresentable, "cannot be given: a `{0}` is nothing that JSON can hold",
     "a `{0}` cannot be represented in JSON"},
    // value
    {Message::NotExact, "is {0}, too large to be exact; write it without point and exponent",
     "{0} is too large to be exact; write it without a decimal point and an exponent"},
    // value, type
    {Message::OutOfRange, "is {0}, which an {1} cannot hold", "{0} is out of range for {1}"},
    // value, pattern
    {Message::NoMatch, "is {0}, which does not match /{1}/ as a whole", "expected a string matching /{1}/, found {0}"},
    {Message::WrongText, "is no text: it is not UTF-8, or too long", "the string is too long, or not valid UTF-8"},
    // number, unit, outline
    {Message::WrongLength, "has {0} {1}, where {2} is asked for", "expected {2}, found {0} {1}"},
    // value, number
    {Message::WrongCount, "is {0}, where {1} items are asked for", "expected a list of {1} items, found {0}"},
    // outline
    {Message::Missing, "is missing; {0} is asked for", "missing; expected {0}"},
    {Message::UnknownKey, "is a key that is not asked for", "unexpected key"},
    // name, outline
    {Message::CaseWithoutValue, "has a value under {0}; {1} is asked for", "{0} has no value; expected {1}"},
    {Message::CaseWithValue, "lacks the value of {0}; {1} is asked for", "{0} needs a value; expected {1}"},
    // value
    {Message::ObjectExpected, "is {0}, where an object is asked for", "expected an object, found {0}"},

    // position
    {Message::InvalidUtf8, "the answer is no text: byte {0} is not UTF-8", "the answer is not valid UTF-8 at byte {0}"},
    // problem
    {Message::InvalidJson, "the text is no JSON: {0}", "invalid JSON: {0}"},
    {Message::InvalidJsonAnswer, "the answer is no JSON: {0}", "invalid JSON: {0}"},

    // key, outline
    {Message::MissingKey, "{0} is missing; the answer has the form {1}", "missing key `{0}`; expected {1}"},
    {Message::OtherKeys, "the answer has other keys than `{0}`; it has the form {1}",
     "unexpected keys besides `{0}`; expected {1}"},
    {Message::UnknownCallKey, "{0} is a key that is not asked for; the answer has the form {1}",
     "unexpected key {0}; expected {1}"},
    // value, outline
    {Message::WrongForm, "the answer is {0}; it has the form {1}", "expected {1}, found {0}"},
    {Message::WrongFunction, "function is no text; the answer has the form {1}",
     "function: expected a string, found {0}; the answer has the form {1}"},
    // value, number
    {Message::WrongChoice, "choice is {0}, where an integer from 0 to {1} is asked for",
     "choice: expected integer from 0 to {1}, found {0}"},
    // number, name, name
    {Message::ChoiceOfOtherFunction, "choice {0} is the function {1}, and not {2}",
     "choice {0} is the function {1}, not {2}"},
    // name
    {Message::ChoiceNeeded, "choice is missing: more than one clause calls {0}",
     "missing key `choice`: several clauses call {0}"},
    // value, outline
    {Message::UnknownFunction, "function is {0}, which is none of the clauses; the answer has the form {1}",
     "function: expected a function of the clauses, found {0}; the answer has the form {1}"},
};

constexpr bool are_in_order() {
  for (std::size_t at = 0; at < std::size(texts); ++at) {
    if (static_cast<std::size_t>(texts[at].message) != at) return false;
  }
  return std::size(texts) == static_cast<std::size_t>(Message::UnknownFunction) + 1;
}
static_assert(are_in_order());

}  // namespace

std::string_view text_of(Message message, MessageVersion version) {
  const MessageTexts& row = texts[static_cast<std::size_t>(message)];
  return version == MessageVersion::First ? row.first : row.second;
}

}  // namespace tenon::inference::answers
