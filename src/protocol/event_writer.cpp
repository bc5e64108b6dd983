#include "protocol/event_writer.h"

#include "base/ensure.h"
#include "json/reader.h"

namespace tenon::protocol {

EventWriter::EventWriter(EventKind kind, const EventHeader& header) : type_(event_type(kind)) {
  out_.begin_object();
  if (header.number) out_.name("number").integer(*header.number);
  out_.name("run").text(header.run);
  out_.name("agent").text(header.scope.agent).name("depth").integer(header.scope.depth);
  out_.name("type").text(type_.name).name("time").integer(header.time);
}

void EventWriter::begin(std::string_view name, bool fits_form(FieldForm form)) {
  while (next_ < type_.fields.size() && type_.fields[next_].name != name) {
    ENSURE(type_.fields[next_].presence == Presence::Sometimes);
    ++next_;
  }
  ENSURE(next_ < type_.fields.size() && fits_form(type_.fields[next_].form));
  ++next_;
  out_.name(name);
}

EventWriter& EventWriter::text(std::string_view name, std::string_view value) {
  begin(name, [](FieldForm form) { return form == FieldForm::Text; });
  out_.text(value);
  return *this;
}

EventWriter& EventWriter::integer(std::string_view name, std::uint64_t value) {
  begin(name, [](FieldForm form) { return form == FieldForm::Integer; });
  out_.integer(value);
  return *this;
}

EventWriter& EventWriter::time(std::string_view name, std::int64_t value) {
  begin(name, [](FieldForm form) { return form == FieldForm::Time; });
  out_.integer(value);
  return *this;
}

EventWriter& EventWriter::json(std::string_view name, std::string_view value) {
  begin(name, [](FieldForm form) { return form == FieldForm::Value || form == FieldForm::Schema; });
  if (is_json(value, own_json_limits)) {
    out_.raw(value);
  } else {
    out_.text(value);
  }
  return *this;
}

std::string EventWriter::take() {
  for (; next_ < type_.fields.size(); ++next_) ENSURE(type_.fields[next_].presence == Presence::Sometimes);
  out_.end_object();
  return std::move(text_);
}

}  // namespace tenon::protocol
