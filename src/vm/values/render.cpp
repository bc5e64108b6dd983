#include "vm/values/render.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <type_traits>

#include "base/ensure.h"
#include "json/text.h"
#include "vm/values/context.h"
#include "vm/values/text_size.h"

namespace tenon::vm {
namespace {

using types::TypeTable;

/// Collects only bytes.
class PlainSink {
 public:
  explicit PlainSink(std::string& out) : out_(out) {}
  std::string& bytes() { return out_; }
  void mark(LabelId) {}
  static LabelId join(LabelId, LabelId) { return {}; }

 private:
  std::string& out_;
};

/// Collects bytes and their labels.
class LabelledSink {
 public:
  LabelledSink(TextBuilder& out, LabelTable& labels) : out_(out), labels_(labels) {}
  std::string& bytes() { return out_.bytes(); }
  void mark(LabelId label) { out_.mark(label); }
  LabelId join(LabelId a, LabelId b) { return labels_.join(a, b); }

 private:
  TextBuilder& out_;
  LabelTable& labels_;
};

/// Collects texts and what is not trusted on their own, with the bytes around them.
class CuttingSink {
 public:
  CuttingSink(const TypeTable& types, LabelTable& labels, const TrustOfLabel& is_trusted)
      : types_(types), labels_(labels), is_trusted_(is_trusted), around_(labels) {}

  std::string& bytes() { return around_.bytes(); }
  void mark(LabelId label) { around_.mark(label); }
  LabelId join(LabelId a, LabelId b) { return labels_.join(a, b); }

  /// Makes a part of its own of the value, if it has to be one. `label`: its own, and that of what is around it.
  bool takes(const Value& value, LabelId label) {
    if (error_) return true;
    if (value.tag() == Tag::Unit) return false;  // there is nothing to read in it
    const bool is_cut = value.tag() == Tag::String || value.tag() == Tag::Context || !is_trusted_(label) ||
                        (value.tag() == Tag::Map && !has_trusted_keys(value));
    if (!is_cut) return false;
    auto text = render(value, types_, labels_);
    size_ += around_.size() + (text ? text->as_text().size() : 0);
    if (!text || size_ > text_bytes_max) {
      error_ = text ? RenderError::TooLong : text.error();
      return true;
    }
    text->set_label(labels_.join(text->label(), label));
    parts_.push_back(around_.finish());
    parts_.push_back(std::move(*text));
    return true;
  }

  Result<std::vector<Value>, RenderError> finish() {
    if (error_) return failure(*error_);
    parts_.push_back(around_.finish());
    return std::move(parts_);
  }

 private:
  bool has_trusted_keys(const Value& map) const {
    return std::ranges::all_of(map_of(map).slots, [&](const MapEntry& entry) {
      return entry.key.tag() == Tag::Unit || is_trusted_(entry.key.label());
    });
  }

  const TypeTable& types_;
  LabelTable& labels_;
  const TrustOfLabel& is_trusted_;
  TextBuilder around_;
  std::vector<Value> parts_;
  std::size_t size_ = 0;
  std::optional<RenderError> error_;
};

/// Writes JSON without recursion: an open aggregate is an entry of `open_`.
template <class Sink>
class JsonWriter {
 public:
  JsonWriter(Sink& sink, const TypeTable& types) : sink_(sink), types_(types) {}

  Result<void, RenderError> write(const Value& root, LabelId inherited) {
    const std::size_t before = sink_.bytes().size();
    bool is_counted = false;
    begin(root, inherited);
    while (!open_.empty()) {
      if (open_.size() > value_depth_max) return failure(RenderError::TooDeep);
      if (sink_.bytes().size() > text_bytes_max) return failure(RenderError::TooLong);
      if (!is_counted && sink_.bytes().size() - before > counted_text_bytes_min) {
        is_counted = true;
        if (is_text_over(root, types_, text_bytes_max - before)) return failure(RenderError::TooLong);
      }
      advance();
    }
    if (sink_.bytes().size() > text_bytes_max) return failure(RenderError::TooLong);
    return {};
  }

 private:
  struct Open {
    const Value* value;
    LabelId label;         ///< of the aggregate and everything around it
    std::size_t next = 0;  ///< the next item, field or slot
    std::string_view close;
    bool is_first = true;
  };

  void put(std::string_view text, LabelId label) {
    sink_.bytes() += text;
    sink_.mark(label);
  }

  void put_string(std::string_view text, LabelId label) {
    sink_.bytes() += '"';
    append_json_escaped(sink_.bytes(), text, text_bytes_max);
    sink_.bytes() += '"';
    sink_.mark(label);
  }

  void put_text(const Value& text, LabelId inherited) {
    put("\"", inherited);
    for (const LabelledPiece& piece : pieces_of(text)) {
      append_json_escaped(sink_.bytes(), piece.text, text_bytes_max);
      sink_.mark(sink_.join(piece.label, inherited));
    }
    put("\"", sink_.join(text.label(), inherited));
  }

  void put_key(const Value& key, LabelId inherited) {
    if constexpr (std::is_same_v<Sink, CuttingSink>) {
      sink_.takes(key, sink_.join(key.label(), inherited));
    } else {
      put_text(key, inherited);
    }
  }

  /// Writes a scalar or a string; opens an aggregate.
  void begin(const Value& value, LabelId inherited) {
    const LabelId label = sink_.join(value.label(), inherited);
    if constexpr (std::is_same_v<Sink, CuttingSink>) {
      if (sink_.takes(value, label)) return;
    }
    switch (value.tag()) {
      case Tag::Unit:
        put("null", label);
        return;
      case Tag::Boolean:
        put(value.as_boolean() ? "true" : "false", label);
        return;
      case Tag::Integer:
        put(std::to_string(value.as_integer()), label);
        return;
      case Tag::Float: {
        const bool is_named = !std::isfinite(value.as_float());
        if (is_named) sink_.bytes() += '"';
        append_f64(value.as_float(), sink_.bytes());
        if (is_named) sink_.bytes() += '"';
        sink_.mark(label);
        return;
      }
      case Tag::Case:
        if (value.type() == TypeTable::any_option) {
          put("null", label);
        } else {
          put_string(case_name(value), label);
        }
        return;
      case Tag::String:
        put_text(value, inherited);
        return;
      case Tag::List:
        open(value, label, "[", "]");
        return;
      case Tag::Map:
        open(value, label, "{", "}");
        return;
      case Tag::Record:
        if (types_.kind(value.type()) == types::TypeKind::Struct) {
          open(value, label, "{", "}");
        } else {
          open(value, label, "[", "]");
        }
        return;
      case Tag::Variant:
        if (value.type() == TypeTable::any_option) {
          open(value, label, "", "");
          return;
        }
        put("{", label);
        put_string(case_name(value), label);
        put(":", label);
        if (value.fields().size() == 1) {
          open(value, label, "", "}");
        } else {
          open(value, label, "[", "]}");
        }
        return;
      case Tag::Secret:
        put_string(shown_secret, label);
        return;
      case Tag::Context:
        put_string(context_text(value), sink_.join(node_of(value).label, label));
        return;
    }
  }

  void open(const Value& value, LabelId label, std::string_view bracket, std::string_view close) {
    put(bracket, label);
    open_.push_back({&value, label, 0, close});
  }

  /// Writes the next part of the innermost open aggregate, or closes it.
  void advance() {
    Open& top = open_.back();
    const Value* next = nullptr;
    const Value* key = nullptr;
    std::string_view name;
    bool is_named = false;
    if (top.value->tag() == Tag::List) {
      const auto items = top.value->items();
      if (top.next < items.size()) next = &items[top.next];
    } else if (top.value->tag() == Tag::Map) {
      const auto& slots = map_of(*top.value).slots;
      while (top.next < slots.size() && slots[top.next].key.tag() == Tag::Unit) ++top.next;
      if (top.next < slots.size()) {
        next = &slots[top.next].value;
        key = &slots[top.next].key;
      }
    } else {
      const auto fields = top.value->fields();
      if (top.next < fields.size()) next = &fields[top.next];
      is_named = top.value->tag() == Tag::Record && types_.kind(top.value->type()) == types::TypeKind::Struct;
      if (is_named && next != nullptr) name = types_.struct_type(top.value->type()).fields[top.next].name;
    }
    const LabelId label = top.label;
    if (next == nullptr) {
      put(top.close, label);
      open_.pop_back();
      return;
    }
    if (!top.is_first) put(",", label);
    top.is_first = false;
    ++top.next;
    if (key != nullptr) put_key(*key, label);
    if (is_named) put_string(name, label);
    if (key != nullptr || is_named) put(":", label);
    begin(*next, label);  // may invalidate `top`
  }

  std::string_view case_name(const Value& value) {
    if (value.type() == TypeTable::any_result) return value.case_index() == 0 ? "Ok" : "Err";
    return types_.enum_type(value.type()).variants[value.case_index()].name;
  }

  Sink& sink_;
  const TypeTable& types_;
  std::vector<Open> open_;
};

}  // namespace

std::string describe(RenderError error) {
  switch (error) {
    case RenderError::TooDeep:
      return "the value is nested more than " + std::to_string(value_depth_max) + " deep";
    case RenderError::TooLong:
      return "the text would be longer than " + std::to_string(text_bytes_max) + " bytes";
  }
  ENSURE(false);
}

void append_f64(double value, std::string& out) {
  if (std::isnan(value)) {
    out += "NaN";
    return;
  }
  if (std::isinf(value)) {
    out += value < 0 ? "-Infinity" : "Infinity";
    return;
  }
  const double magnitude = std::fabs(value);
  const bool is_plain = magnitude == 0 || (magnitude >= 1e-6 && magnitude < 1e21);
  std::array<char, 64> buffer{};
  const auto written = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                     is_plain ? std::chars_format::fixed : std::chars_format::scientific);
  const std::string_view digits(buffer.data(), static_cast<std::size_t>(written.ptr - buffer.data()));
  out += digits;
  if (is_plain && digits.find('.') == std::string_view::npos) out += ".0";
}

Result<void, RenderError> to_json(const Value& value, const TypeTable& types, std::string& out) {
  PlainSink sink(out);
  return JsonWriter<PlainSink>(sink, types).write(value, {});
}

Result<void, RenderError> render(const Value& value, const TypeTable& types, LabelTable& labels, TextBuilder& out) {
  LabelId inherited;
  const Value* shown = &value;
  while (shown->tag() == Tag::Variant && shown->type() == TypeTable::any_option) {
    inherited = labels.join(inherited, shown->label());
    shown = shown->fields().data();
  }
  const LabelId label = labels.join(shown->label(), inherited);
  switch (shown->tag()) {
    case Tag::Unit:
      out.mark(label);
      break;
    case Tag::String:
      out.append(*shown, inherited);
      break;
    case Tag::Context: {
      const LabelId count = labels.join(label, node_of(*shown).count_label);
      bool is_first = true;
      for (const Value& entry : context_entries(*shown)) {
        if (!is_first) out.append("\n", count);
        is_first = false;
        out.append(entry, count);
      }
      out.mark(count);
      break;
    }
    case Tag::Secret:
      out.append(shown_secret, label);
      break;
    case Tag::Float:
      append_f64(shown->as_float(), out.bytes());
      out.mark(label);
      break;
    case Tag::Boolean:
    case Tag::Integer:
    case Tag::Case:
    case Tag::List:
    case Tag::Map:
    case Tag::Record:
    case Tag::Variant: {
      LabelledSink sink(out, labels);
      return JsonWriter<LabelledSink>(sink, types).write(*shown, inherited);
    }
  }
  if (out.is_too_long()) return failure(RenderError::TooLong);
  return {};
}

Result<Value, RenderError> render(const Value& value, const TypeTable& types, LabelTable& labels) {
  if (value.tag() == Tag::String) return value;
  TextBuilder builder(labels);
  if (auto done = render(value, types, labels, builder); !done) return failure(done.error());
  return builder.finish();
}

Result<std::vector<Value>, RenderError> cut_by_trust(const Value& value, const TypeTable& types, LabelTable& labels,
                                                     const TrustOfLabel& is_trusted) {
  CuttingSink sink(types, labels, is_trusted);
  if (value.tag() != Tag::Unit) {
    if (auto done = JsonWriter<CuttingSink>(sink, types).write(value, {}); !done) return failure(done.error());
  }
  return sink.finish();
}

Result<Value, RenderError> render_json(const Value& value, const TypeTable& types, LabelTable& labels) {
  TextBuilder builder(labels);
  LabelledSink sink(builder, labels);
  if (auto done = JsonWriter<LabelledSink>(sink, types).write(value, {}); !done) return failure(done.error());
  return builder.finish();
}

}  // namespace tenon::vm
