#include "protocol/event_writer.h"

#include <nlohmann/json.hpp>

#include "base/ensure.h"
#include "base/json_text.h"

namespace tenon::protocol {

EventWriter::EventWriter(EventKind kind, const EventHeader& header) : type_(event_type(kind)) {
  out_ = "{";
  if (header.number) out_ += "\"number\":" + std::to_string(*header.number) + ",";
  out_ += "\"run\":";
  append_json_string(out_, header.run);
  out_ += ",\"agent\":";
  append_json_string(out_, header.agent);
  out_ += ",\"depth\":" + std::to_string(header.depth) + ",\"type\":\"";
  out_ += type_.name;
  out_ += "\",\"time\":" + std::to_string(header.time);
}

void EventWriter::begin(std::string_view name, bool fits_form(FieldForm form)) {
  while (next_ < type_.fields.size() && type_.fields[next_].name != name) {
    ENSURE(type_.fields[next_].presence == Presence::Sometimes);
    ++next_;
  }
  ENSURE(next_ < type_.fields.size() && fits_form(type_.fields[next_].form));
  ++next_;
  out_ += ",\"";
  out_ += name;
  out_ += "\":";
}

EventWriter& EventWriter::text(std::string_view name, std::string_view value) {
  begin(name, [](FieldForm form) { return form == FieldForm::Text; });
  append_json_string(out_, value);
  return *this;
}

EventWriter& EventWriter::integer(std::string_view name, std::uint64_t value) {
  begin(name, [](FieldForm form) { return form == FieldForm::Integer; });
  out_ += std::to_string(value);
  return *this;
}

EventWriter& EventWriter::time(std::string_view name, std::int64_t value) {
  begin(name, [](FieldForm form) { return form == FieldForm::Time; });
  out_ += std::to_string(value);
  return *this;
}

EventWriter& EventWriter::json(std::string_view name, std::string_view value) {
  begin(name, [](FieldForm form) { return form == FieldForm::Value || form == FieldForm::Schema; });
  if (nlohmann::json::accept(value)) {
    out_ += value;
  } else {
    append_json_string(out_, value);
  }
  return *this;
}

std::string EventWriter::take() {
  for (; next_ < type_.fields.size(); ++next_) ENSURE(type_.fields[next_].presence == Presence::Sometimes);
  out_ += '}';
  return std::move(out_);
}

}  // namespace tenon::protocol
