#include "inference/openai_http/chat_reply.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/utf8.h"
#include "json/scanner.h"

namespace tenon::inference {
namespace {

/// Lists and objects within each other; a reply that nests deeper is not read.
constexpr std::size_t reply_depth_max = 1'000;

/// Where in the document the reader is. `Other` is everything that is skipped.
enum class Place : std::uint8_t {
  Outside,
  Top,
  Choices,
  Choice,
  Message,
  Parts,
  Part,
  ToolCalls,
  Usage,
  PromptDetails,
  Error,
  InnerError,
  Other
};

enum class Field : std::uint8_t {
  None,
  Model,
  Choices,
  Usage,
  Error,
  ErrorText,
  Message,
  FinishReason,
  Content,
  Reasoning,
  Refusal,
  ToolCalls,
  Text,
  PromptTokens,
  CompletionTokens,
  PromptDetails,
  CachedTokens,
  ErrorMessage,
  ErrorType,
  ErrorCode,
  ErrorParam,
  InnerError,
  InnerCode
};

struct NamedField {
  Place place;
  std::string_view key;
  Field field;
};

/// In the order of the places. `delta` is what a chunk calls its piece of a message; `detail` and a `message` at the
/// top are the error texts of servers that have no error object.
constexpr std::array named_fields = {
    NamedField{Place::Top, "choices", Field::Choices},
    NamedField{Place::Top, "model", Field::Model},
    NamedField{Place::Top, "usage", Field::Usage},
    NamedField{Place::Top, "error", Field::Error},
    NamedField{Place::Top, "message", Field::ErrorText},
    NamedField{Place::Top, "detail", Field::ErrorText},
    NamedField{Place::Choice, "message", Field::Message},
    NamedField{Place::Choice, "delta", Field::Message},
    NamedField{Place::Choice, "finish_reason", Field::FinishReason},
    NamedField{Place::Choice, "error", Field::Error},
    NamedField{Place::Message, "content", Field::Content},
    NamedField{Place::Message, "reasoning_content", Field::Reasoning},
    NamedField{Place::Message, "reasoning", Field::Reasoning},
    NamedField{Place::Message, "refusal", Field::Refusal},
    NamedField{Place::Message, "tool_calls", Field::ToolCalls},
    NamedField{Place::Message, "function_call", Field::ToolCalls},
    NamedField{Place::Part, "text", Field::Text},
    NamedField{Place::Part, "refusal", Field::Refusal},
    NamedField{Place::Usage, "prompt_tokens", Field::PromptTokens},
    NamedField{Place::Usage, "completion_tokens", Field::CompletionTokens},
    NamedField{Place::Usage, "prompt_tokens_details", Field::PromptDetails},
    NamedField{Place::PromptDetails, "cached_tokens", Field::CachedTokens},
    NamedField{Place::Error, "message", Field::ErrorMessage},
    NamedField{Place::Error, "type", Field::ErrorType},
    NamedField{Place::Error, "code", Field::ErrorCode},
    NamedField{Place::Error, "param", Field::ErrorParam},
    NamedField{Place::Error, "innererror", Field::InnerError},
    NamedField{Place::Error, "inner_error", Field::InnerError},
    NamedField{Place::InnerError, "code", Field::InnerCode},
};

static_assert(std::ranges::is_sorted(named_fields, {}, &NamedField::place));

/// For each place the index of its first field.
constexpr std::array first_fields = [] {
  std::array<std::uint8_t, static_cast<std::size_t>(Place::Other) + 1> first{};
  for (std::size_t place = 0; place < first.size(); ++place) {
    const auto found =
        std::ranges::lower_bound(named_fields, Place{static_cast<std::uint8_t>(place)}, {}, &NamedField::place);
    first[place] = static_cast<std::uint8_t>(found - named_fields.begin());
  }
  return first;
}();

std::uint32_t as_count(double number) {
  if (!(number > 0)) return 0;
  return static_cast<std::uint32_t>(std::min<double>(number, std::numeric_limits<std::uint32_t>::max()));
}

/// Receives what a JsonScanner finds. The places that matter are nested a few levels deep; below them only the depth is
/// counted.
class ReplyReader {
 public:
  explicit ReplyReader(ChatReply& reply) : reply_(reply) {}

  void null() { done(); }
  void boolean(bool) { done(); }
  void integer(std::int64_t value, std::string_view digits) { number(static_cast<double>(value), digits); }
  void large(std::uint64_t value, std::string_view digits) { number(static_cast<double>(value), digits); }
  void begin_object() { enter(object_place()); }
  void begin_list() { enter(array_place()); }
  void end_object() { leave(); }
  void end_list() { leave(); }

  bool key(std::string_view key) {
    field_ = Field::None;
    const Place place = this->place();
    if (place == Place::Other) return true;
    for (std::size_t at = first_fields[static_cast<std::size_t>(place)];
         at < named_fields.size() && named_fields[at].place == place; ++at) {
      if (named_fields[at].key == key) {
        field_ = named_fields[at].field;
        break;
      }
    }
    return true;
  }

  void text(std::string_view value) {
    switch (field_) {
      case Field::Model:
        reply_.model = whole(value);
        break;
      case Field::FinishReason:
        reply_.finish_reason = whole(value);
        break;
      case Field::Content:
      case Field::Text:
        append_joining_surrogates(reply_.content, value);
        break;
      case Field::Reasoning:
        append_joining_surrogates(reply_.reasoning, value);
        break;
      case Field::Refusal:
        append_joining_surrogates(reply_.refusal, value);
        break;
      case Field::Error:
      case Field::ErrorText:
      case Field::ErrorMessage:
        error().message = whole(value);
        break;
      case Field::ErrorType:
        error().type = whole(value);
        break;
      case Field::ErrorCode:
        error().code = whole(value);
        break;
      case Field::ErrorParam:
        error().param = whole(value);
        break;
      case Field::InnerCode:
        error().inner_code = whole(value);
        break;
      case Field::None:
      case Field::Choices:
      case Field::Usage:
      case Field::Message:
      case Field::InnerError:
      case Field::ToolCalls:
      case Field::PromptTokens:
      case Field::CompletionTokens:
      case Field::PromptDetails:
      case Field::CachedTokens:
        break;
    }
    done();
  }

  void number(double value, std::string_view digits) {
    switch (field_) {
      case Field::PromptTokens:
        reply_.usage->prompt = as_count(value);
        break;
      case Field::CompletionTokens:
        reply_.usage->generated = as_count(value);
        break;
      case Field::CachedTokens:
        reply_.usage->cached = as_count(value);
        break;
      case Field::ErrorCode:
        error().code = digits;
        break;
      case Field::None:
      case Field::Model:
      case Field::Choices:
      case Field::Usage:
      case Field::Error:
      case Field::ErrorText:
      case Field::Message:
      case Field::FinishReason:
      case Field::Content:
      case Field::Reasoning:
      case Field::Refusal:
      case Field::ToolCalls:
      case Field::Text:
      case Field::PromptDetails:
      case Field::ErrorMessage:
      case Field::ErrorType:
      case Field::ErrorParam:
      case Field::InnerError:
      case Field::InnerCode:
        break;
    }
    done();
  }

 private:
  static constexpr std::size_t depth_max = 8;

  [[nodiscard]] Place place() const {
    if (passed_over_ > 0) return Place::Other;
    return depth_ == 0 ? Place::Outside : places_[depth_ - 1];
  }

  [[nodiscard]] Place object_place() {
    switch (place()) {
      case Place::Outside:
        return Place::Top;
      case Place::Top:
        if (field_ == Field::Usage) {
          reply_.usage.emplace();
          return Place::Usage;
        }
        if (field_ == Field::Error) {
          error();
          return Place::Error;
        }
        return Place::Other;
      case Place::Choices:
        return ++choices_here_ == 1 ? (++reply_.choices, Place::Choice) : Place::Other;
      case Place::Choice:
        if (field_ == Field::Error) {
          error();
          return Place::Error;
        }
        return field_ == Field::Message ? Place::Message : Place::Other;
      case Place::Message:
        if (field_ == Field::ToolCalls) ++reply_.tool_calls;
        return Place::Other;
      case Place::Parts:
        return Place::Part;
      case Place::ToolCalls:
        ++reply_.tool_calls;
        return Place::Other;
      case Place::Usage:
        return field_ == Field::PromptDetails ? Place::PromptDetails : Place::Other;
      case Place::Error:
        return field_ == Field::InnerError ? Place::InnerError : Place::Other;
      case Place::Part:
      case Place::PromptDetails:
      case Place::InnerError:
      case Place::Other:
        return Place::Other;
    }
    return Place::Other;
  }

  [[nodiscard]] Place array_place() const {
    const Place here = place();
    if (here == Place::Top && field_ == Field::Choices) return Place::Choices;
    if (here == Place::Message && field_ == Field::Content) return Place::Parts;
    if (here == Place::Message && field_ == Field::ToolCalls) return Place::ToolCalls;
    return Place::Other;
  }

  void enter(Place place) {
    if (place == Place::Other || depth_ == depth_max) {
      ++passed_over_;
    } else {
      places_[depth_++] = place;
    }
    done();
  }

  void leave() {
    if (passed_over_ > 0) {
      --passed_over_;
    } else {
      --depth_;
    }
    done();
  }

  void done() { field_ = Field::None; }

  static std::string whole(std::string_view value) {
    std::string text;
    append_joining_surrogates(text, value);
    end_surrogates(text);
    return text;
  }

  ServerError& error() {
    if (!reply_.error) reply_.error.emplace();
    return *reply_.error;
  }

  ChatReply& reply_;
  std::array<Place, depth_max> places_{};
  std::size_t depth_ = 0;
  std::size_t passed_over_ = 0;
  std::uint32_t choices_here_ = 0;
  Field field_ = Field::None;
};

}  // namespace

ReplySyntax read_chat_json(std::string_view json, ChatReply& reply) {
  const JsonLimits limits{SIZE_MAX, reply_depth_max, SIZE_MAX};
  if (check_json_bytes(json, limits)) return ReplySyntax::NotJson;
  ReplyReader reader(reply);
  JsonScanner<ReplyReader> scanner(json, 0, JsonDialect::Strict, limits, reader);
  scanner.keep_half_surrogates();
  return scanner.scan_document() ? ReplySyntax::Json : ReplySyntax::NotJson;
}

}  // namespace tenon::inference
