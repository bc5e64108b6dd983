#include "runtime/label_sources.h"

#include <algorithm>
#include <iterator>

#include "types/table/shape.h"
#include "vm/values/object.h"

namespace tenon::runtime {

Sources sources_of(const vm::LabelTable& labels, vm::LabelId label) {
  Sources sources;
  for (const std::uint32_t index : labels.sources_of(label)) sources.push_back(labels.sources()[index]);
  std::ranges::sort(sources);
  return sources;
}

Sources sources_of(const vm::LabelTable& labels, const vm::Value& value) {
  vm::LabelTable table = labels;  // a union may be new
  const vm::LabelId label = vm::whole_label(value, table);
  return sources_of(table, label);
}

vm::LabelId intern(vm::LabelTable& labels, const Sources& sources) {
  vm::LabelId label;
  for (const vm::Source& source : sources) label = labels.join(label, labels.intern(source));
  return label;
}

Sources join(const Sources& a, const Sources& b) {
  Sources both;
  std::ranges::set_union(a, b, std::back_inserter(both));
  return both;
}

std::vector<std::string> describe_sources(const vm::LabelTable& labels, vm::LabelId label) {
  std::vector<std::string> described;
  for (const vm::Source& source : sources_of(labels, label)) described.push_back(vm::describe(source));
  return described;
}

std::vector<std::string> sources_of_call(const bytecode::Program& program, const vm::LabelTable& labels,
                                         const vm::Request& request) {
  if (request.kind != vm::RequestKind::Extern) return {};
  if (!vm::asks_approval(request, program) && !bytecode::acts(program.externs[request.subject])) return {};
  return describe_sources(labels, request.label);
}

StateSources sources_of_state(const vm::LabelTable& labels, const vm::Value& state) {
  StateSources sources;
  if (state.tag() != vm::Tag::Record) return sources;
  const Sources own = sources_of(labels, state.label());
  for (const vm::Value& entry : state.fields()) sources.push_back(join(own, sources_of(labels, entry)));
  while (!sources.empty() && sources.back().empty()) sources.pop_back();
  return sources;
}

void label_state(vm::LabelTable& labels, const StateSources& sources, vm::Value& state) {
  if (sources.empty() || state.tag() != vm::Tag::Record) return;
  vm::FieldsObject& entries = vm::own_fields(state);
  for (std::uint32_t at = 0; at < entries.count && at < sources.size(); ++at) {
    vm::add_label(entries.data()[at], intern(labels, sources[at]), labels);
  }
}

StateSources migrate_sources(const StateSources& sources, const types::TypeTable& before, types::TypeId state_before,
                             const types::TypeTable& types, types::TypeId state) {
  const auto& old_entries = before.struct_type(state_before).fields;
  const auto& entries = types.struct_type(state).fields;
  Sources all;
  for (const Sources& one : sources) all = join(all, one);
  if (!types::reads_as(before, state_before, types, state)) return StateSources(all.empty() ? 0 : entries.size(), all);
  StateSources migrated(entries.size());
  for (std::size_t at = 0; at < entries.size(); ++at) {
    const auto old = std::ranges::find(old_entries, entries[at].name, &types::Field::name);
    const auto index = static_cast<std::size_t>(old - old_entries.begin());
    if (index < sources.size()) migrated[at] = sources[index];
  }
  return migrated;
}

StateSources unknown_sources(const types::TypeTable& types, types::TypeId state) {
  return StateSources(types.struct_type(state).fields.size(), Sources{{vm::SourceKind::Unknown, ""}});
}

void write_sources(wire::Writer& out, std::uint32_t field, const Sources& sources) {
  for (const vm::Source& source : sources) {
    wire::Writer message;
    message.field(1, static_cast<std::uint64_t>(source.kind));
    message.field(2, source.name);
    out.present_field(field, message);
  }
}

bool read_source(std::string_view bytes, Sources& sources) {
  vm::Source source;
  wire::Reader in(bytes);
  while (in.next_field()) {
    if (in.number() == 1) {
      source.kind = static_cast<vm::SourceKind>(in.value_up_to(vm::source_kind_count - 1));
    } else if (in.number() == 2) {
      source.name = in.bytes_value();
    } else {
      in.reject();
    }
  }
  if (!in.is_good() || (!sources.empty() && !(sources.back() < source))) return false;
  sources.push_back(std::move(source));
  return true;
}

}  // namespace tenon::runtime
