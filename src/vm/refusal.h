#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bytecode/program.h"

namespace tenon::vm {

/// A call of an extern that acts, or a value that must be trusted, was refused (docs/language/23-trust.md): it failed
/// with Untrusted, and nothing has left the program.
struct Refusal {
  std::string subject;               ///< the extern; of a value the function that takes or returns it
  std::string what;                  ///< as the failure names it: `` `to` of `send_mail` ``
  std::vector<std::string> sources;  ///< what is not trusted, as vm::describe names it
  bytecode::Place place;
  std::uint32_t agent = UINT32_MAX;  ///< this and the next: as in a Request
  std::uint32_t depth = 0;
  std::uint64_t times = 1;  ///< that it happened since the run last waited

  /// The same thing, however often.
  [[nodiscard]] bool is_same_as(const Refusal& other) const {
    return subject == other.subject && what == other.what && sources == other.sources && place == other.place &&
           agent == other.agent && depth == other.depth;
  }
};

/// Different ones that are kept while a run does not wait; of a program that goes through more of them, the first.
inline constexpr std::size_t refusals_max = 100;

}  // namespace tenon::vm
