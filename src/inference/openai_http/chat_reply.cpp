#include "inference/openai_http/chat_reply.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace tenon::inference {
namespace {

using Json = nlohmann::json;

/// Where in the document the reader stands. `Other` is everything that is passed over.
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
  ErrorParam
};

struct NamedField {
  Place place;
  std::string_view key;
  Field field;
};

/// `delta` is what a chunk calls its piece of a message; `detail` and a `message` at the top are the error texts of
/// servers that have no error object.
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
    NamedField{Place::Message, "content", Field::Content},
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
};

std::uint32_t as_count(double number) {
  if (!(number > 0)) return 0;
  return static_cast<std::uint32_t>(std::min<double>(number, std::numeric_limits<std::uint32_t>::max()));
}

/// Receives the parser's events. The places that matter nest a few levels deep; below them only the depth is counted,
/// so that a reply of a million brackets costs a counter.
class ReplyReader {
 public:
  explicit ReplyReader(ChatReply& reply) : reply_(reply) {}

  bool null() { return done(); }
  bool boolean(bool /*value*/) { return done(); }
  bool number_integer(std::int64_t value) { return number(static_cast<double>(value), std::to_string(value)); }
  bool number_unsigned(std::uint64_t value) { return number(static_cast<double>(value), std::to_string(value)); }
  bool number_float(double value, const std::string& text) { return number(value, text); }
  bool binary(const Json::binary_t& /*value*/) { return done(); }

  bool string(std::string& value) {
    switch (field_) {
      case Field::Model:
        reply_.model = std::move(value);
        break;
      case Field::FinishReason:
        reply_.finish_reason = std::move(value);
        break;
      case Field::Content:
      case Field::Text:
        add(reply_.content, value);
        break;
      case Field::Refusal:
        add(reply_.refusal, value);
        break;
      case Field::Error:
      case Field::ErrorText:
      case Field::ErrorMessage:
        error().message = std::move(value);
        break;
      case Field::ErrorType:
        error().type = std::move(value);
        break;
      case Field::ErrorCode:
        error().code = std::move(value);
        break;
      case Field::ErrorParam:
        error().param = std::move(value);
        break;
      case Field::None:
      case Field::Choices:
      case Field::Usage:
      case Field::Message:
      case Field::ToolCalls:
      case Field::PromptTokens:
      case Field::CompletionTokens:
      case Field::PromptDetails:
      case Field::CachedTokens:
        break;
    }
    return done();
  }

  bool key(const std::string& key) {
    field_ = Field::None;
    const Place place = this->place();
    if (place == Place::Other) return true;
    for (const NamedField& named : named_fields) {
      if (named.place == place && named.key == key) {
        field_ = named.field;
        break;
      }
    }
    return true;
  }

  bool start_object(std::size_t /*size*/) {
    enter(object_place());
    return true;
  }
  bool start_array(std::size_t /*size*/) {
    enter(array_place());
    return true;
  }
  bool end_object() { return leave(); }
  bool end_array() { return leave(); }

  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*fault*/) {
    return false;
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
      case Place::Part:
      case Place::PromptDetails:
      case Place::Error:
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
    field_ = Field::None;
  }

  bool leave() {
    if (passed_over_ > 0) {
      --passed_over_;
    } else {
      --depth_;
    }
    return done();
  }

  bool number(double value, const std::string& text) {
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
        error().code = text;
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
      case Field::Refusal:
      case Field::ToolCalls:
      case Field::Text:
      case Field::PromptDetails:
      case Field::ErrorMessage:
      case Field::ErrorType:
      case Field::ErrorParam:
        break;
    }
    return done();
  }

  bool done() {
    field_ = Field::None;
    return true;
  }

  ServerError& error() {
    if (!reply_.error) reply_.error.emplace();
    return *reply_.error;
  }

  static void add(std::string& text, std::string& piece) {
    if (text.empty()) {
      text = std::move(piece);
    } else {
      text += piece;
    }
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
  ReplyReader reader(reply);
  return Json::sax_parse(json, &reader) ? ReplySyntax::Json : ReplySyntax::NotJson;
}

}  // namespace tenon::inference
