#pragma once

#include <span>

#include "diagnostics/diagnostic.h"
#include "flows/flows.h"

namespace tenon::flows {

/// Whether what is only tested in a run is an error, too.
enum class Proofs : bool { Wanted, Required };

/// Reports each sink that is not proved: at its argument or its call, with the way on which the words come there.
/// `files`: those that the places of the program refer to, by their numbers.
void report(const bytecode::Program& program, const std::vector<Sink>& sinks, Proofs proofs,
            std::span<const source::SourceFile* const> files, diagnostics::Diagnostics& diagnostics);

}  // namespace tenon::flows
