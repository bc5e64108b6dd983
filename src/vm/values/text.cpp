#include "vm/values/text.h"

#include <algorithm>

#include "base/ensure.h"

namespace tenon::vm {
namespace {

/// Adds a span to a list of spans that cover [0, the last end).
void add_span(std::vector<TextSpan>& spans, std::size_t end, LabelId label) {
  const std::size_t begin = spans.empty() ? 0 : spans.back().end;
  if (end == begin) return;
  if (!spans.empty() && spans.back().label == label) {
    spans.back().end = static_cast<std::uint32_t>(end);
  } else {
    spans.push_back({static_cast<std::uint32_t>(end), label});
  }
}

/// Calls `visit(from, to, label)` for each piece of the bytes [from, to) of a String.
void visit_spans(const Value& text, std::size_t from, std::size_t to, auto visit) {
  const TextObject& object = text_of(text);
  if (!object.spans) {
    if (from < to) visit(from, to, text.label());
    return;
  }
  const auto& spans = *object.spans;
  auto span = std::ranges::upper_bound(spans, from, {}, &TextSpan::end);
  for (; span != spans.end() && from < to; ++span) {
    const std::size_t end = std::min<std::size_t>(span->end, to);
    visit(from, end, span->label);
    from = end;
  }
}

}  // namespace

std::uint32_t code_points(const Value& text) {
  TextObject& object = text_of(text);
  if (object.code_points == TextObject::not_counted) {
    object.code_points = static_cast<std::uint32_t>(count_code_points(object.bytes));
  }
  return object.code_points;
}

std::vector<LabelledPiece> pieces_of(const Value& text) {
  const std::string_view bytes = text.as_text();
  std::vector<LabelledPiece> pieces;
  visit_spans(text, 0, bytes.size(), [&](std::size_t from, std::size_t to, LabelId label) {
    pieces.push_back({bytes.substr(from, to - from), label});
  });
  return pieces;
}

void TextBuilder::mark(LabelId label) {
  if (bytes_.size() > text_bytes_max) return;
  whole_ = labels_.join(whole_, label);
  if (spans_.empty()) {
    if (bytes_.size() == marked_) return;
    if (marked_ == 0) uniform_ = label;
    if (label == uniform_) {
      marked_ = bytes_.size();
      return;
    }
    constexpr std::size_t spans_expected = 4;  // words, a value, words
    spans_.reserve(spans_expected);
    spans_.push_back({static_cast<std::uint32_t>(marked_), uniform_});
  }
  add_span(spans_, bytes_.size(), label);
}

void TextBuilder::append(std::string_view text, LabelId label) {
  if (is_too_long()) return;
  bytes_ += text;
  mark(label);
}

void TextBuilder::append(const Value& text, LabelId inherited) {
  append_part(text, 0, text_of(text).bytes.size(), inherited);
}

void TextBuilder::append_part(const Value& text, std::size_t from, std::size_t to, LabelId inherited) {
  const std::string_view bytes = text_of(text).bytes;
  // An empty text carries information too: its label counts, though no byte has it.
  whole_ = labels_.join(whole_, labels_.join(text.label(), inherited));
  visit_spans(text, from, to, [&](std::size_t begin, std::size_t end, LabelId label) {
    append(bytes.substr(begin, end - begin), labels_.join(label, inherited));
  });
}

Value TextBuilder::finish() {
  ENSURE(!is_too_long());
  auto* const object = new TextObject(std::move(bytes_));
  // An empty text that was appended may have added to the label of the whole alone.
  if (spans_.empty() && marked_ > 0 && uniform_ != whole_) {
    spans_.push_back({static_cast<std::uint32_t>(marked_), uniform_});
  }
  if (!spans_.empty()) object->spans = std::make_unique<std::vector<TextSpan>>(std::move(spans_));
  Value text = Value::adopt(Tag::String, object);
  text.set_label(whole_);
  bytes_.clear();
  spans_.clear();
  marked_ = 0;
  whole_ = uniform_ = {};
  return text;
}

bool append(Value& target, const Value& piece, LabelTable& labels) {
  if (&target == &piece) {
    const Value copy = piece;
    return append(target, copy, labels);
  }
  const std::size_t before = text_of(target).bytes.size();
  const std::size_t added = text_of(piece).bytes.size();
  if (before + added > text_bytes_max) return false;
  const LabelId old_label = target.label();
  const LabelId label = labels.join(old_label, piece.label());
  const bool is_uniform = !text_of(target).spans && !text_of(piece).spans && (label == old_label || before == 0) &&
                          (label == piece.label() || added == 0);
  TextObject& object = own_text(target);
  if (object.code_points != TextObject::not_counted) object.code_points += code_points(piece);
  if (!is_uniform) {
    if (!object.spans) {
      object.spans = std::make_unique<std::vector<TextSpan>>();
      add_span(*object.spans, before, old_label);
    }
    visit_spans(piece, 0, added, [&](std::size_t, std::size_t to, LabelId span_label) {
      add_span(*object.spans, before + to, span_label);
    });
  }
  object.bytes.append(text_of(piece).bytes);
  target.set_label(label);
  return true;
}

Value part_of(const Value& text, std::size_t from, std::size_t to, LabelTable& labels) {
  TextBuilder builder(labels);
  builder.append_part(text, from, to);
  return builder.finish();
}

}  // namespace tenon::vm
