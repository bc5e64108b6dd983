#include "json/writer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "json/canonical.h"
#include "json/number.h"
#include "json/text.h"

namespace tenon {
namespace {

template <class Integer>
void append_integer(std::string& out, Integer value) {
  std::array<char, 24> digits{};
  const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  out.append(digits.data(), written.ptr);
}

class Appender {
 public:
  Appender(std::string& out, JsonForm form) : out_(out), form_(form) {}

  void append(const Json& value) {
    switch (value.kind()) {
      case Json::Kind::Null:
        out_ += "null";
        return;
      case Json::Kind::Boolean:
        out_ += value.as_boolean() ? "true" : "false";
        return;
      case Json::Kind::Integer:
        if (form_ == JsonForm::Canonical) return append_canonical_number(value.as_double(), out_);
        return append_integer(out_, value.as_integer());
      case Json::Kind::Unsigned:
        if (form_ == JsonForm::Canonical) return append_canonical_number(value.as_double(), out_);
        return append_integer(out_, value.as_count());
      case Json::Kind::Number:
        return append_number(value.as_double());
      case Json::Kind::String:
        return append_json_string(out_, value.as_string());
      case Json::Kind::Array:
        return append_list(value.items());
      case Json::Kind::Object:
        return append_object(value.members());
    }
  }

 private:
  void append_number(double value) {
    switch (form_) {
      case JsonForm::Compact:
      case JsonForm::Pretty:
        return append_point_number(value, out_);
      case JsonForm::Shortest:
        return append_shortest_number(value, out_);
      case JsonForm::Canonical:
        return append_canonical_number(value, out_);
    }
  }

  void append_list(const Json::Array& items) {
    open('[');
    bool is_first = true;
    for (const Json& item : items) {
      separate(is_first);
      is_first = false;
      append(item);
    }
    close(']', items.empty());
  }

  void append_object(const Json::Object& members) {
    open('{');
    if (form_ == JsonForm::Canonical) {
      std::vector<const JsonMember*> sorted;
      sorted.reserve(members.size());
      for (const JsonMember& member : members) sorted.push_back(&member);
      std::ranges::sort(sorted,
                        [](const JsonMember* a, const JsonMember* b) { return precedes_in_utf16(a->name, b->name); });
      for (const JsonMember* member : sorted) append_member(*member, member == sorted.front());
    } else {
      for (const JsonMember& member : members) append_member(member, &member == &members.front());
    }
    close('}', members.empty());
  }

  void append_member(const JsonMember& member, bool is_first) {
    separate(is_first);
    append_json_string(out_, member.name);
    out_ += form_ == JsonForm::Pretty ? ": " : ":";
    append(member.value);
  }

  void open(char bracket) {
    out_ += bracket;
    ++depth_;
  }
  void separate(bool is_first) {
    if (!is_first) out_ += ',';
    break_line();
  }
  void close(char bracket, bool is_empty) {
    --depth_;
    if (!is_empty) break_line();
    out_ += bracket;
  }
  void break_line() {
    constexpr std::size_t indentation = 2;
    if (form_ == JsonForm::Pretty) out_.append("\n").append(depth_ * indentation, ' ');
  }

  std::string& out_;
  JsonForm form_;
  std::size_t depth_ = 0;
};

}  // namespace

void append_json(std::string& out, const Json& value, JsonForm form) {
  Appender(out, form).append(value);
}

void JsonWriter::separate() {
  if (needs_comma_) out_ += ',';
  needs_comma_ = true;
}

JsonWriter& JsonWriter::open(char bracket) {
  separate();
  out_ += bracket;
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
  out_ += bracket;
  needs_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::name(std::string_view name) {
  separate();
  append_json_string(out_, name);
  out_ += ':';
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::text(std::string_view value) {
  separate();
  append_json_string(out_, value);
  return *this;
}

JsonWriter& JsonWriter::raw(std::string_view json) {
  separate();
  out_ += json;
  return *this;
}

JsonWriter& JsonWriter::signed_integer(std::int64_t value) {
  separate();
  append_integer(out_, value);
  return *this;
}

JsonWriter& JsonWriter::unsigned_integer(std::uint64_t value) {
  separate();
  append_integer(out_, value);
  return *this;
}

}  // namespace tenon
