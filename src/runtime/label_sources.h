#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/wire.h"
#include "bytecode/program.h"
#include "types/table/type_table.h"
#include "vm/request.h"
#include "vm/values/labels.h"
#include "vm/values/value.h"

/// Labels that outlive a run's table: what an agent keeps between its turns, each of which is a run of a machine of its
/// own.
namespace tenon::runtime {

/// Ascending, each once; empty for the program's own text.
using Sources = std::vector<vm::Source>;
/// Of an agent's state: one for each entry. Entries after the last one are the program's own.
using StateSources = std::vector<Sources>;

[[nodiscard]] Sources sources_of(const vm::LabelTable& labels, vm::LabelId label);
/// Of the value and all its parts.
[[nodiscard]] Sources sources_of(const vm::LabelTable& labels, const vm::Value& value);
[[nodiscard]] vm::LabelId intern(vm::LabelTable& labels, const Sources& sources);
/// The union of both.
[[nodiscard]] Sources join(const Sources& a, const Sources& b);

/// As vm::describe names them, ascending.
[[nodiscard]] std::vector<std::string> describe_sources(const vm::LabelTable& labels, vm::LabelId label);

/// What it depends on that a call that acts is made, or that a person is asked to approve of this; empty for others.
[[nodiscard]] std::vector<std::string> sources_of_call(const bytecode::Program& program, const vm::LabelTable& labels,
                                                       const vm::Request& request);

/// `state`: a record.
[[nodiscard]] StateSources sources_of_state(const vm::LabelTable& labels, const vm::Value& state);
void label_state(vm::LabelTable& labels, const StateSources& sources, vm::Value& state);
/// As a new program has them: by name, if it reads the old state as it is; otherwise, as any entry may have been made
/// of any other one, each has the sources of all.
[[nodiscard]] StateSources migrate_sources(const StateSources& sources, const types::TypeTable& before,
                                           types::TypeId state_before, const types::TypeTable& types,
                                           types::TypeId state);
/// Where nothing is known of them.
[[nodiscard]] StateSources unknown_sources(const types::TypeTable& types, types::TypeId state);

/// Repeated: a message of 1 kind, 2 name.
void write_sources(wire::Writer& out, std::uint32_t field, const Sources& sources);
/// One of these.
[[nodiscard]] bool read_source(std::string_view bytes, Sources& sources);

}  // namespace tenon::runtime
