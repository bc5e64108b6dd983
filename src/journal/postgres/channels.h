#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

/// Channels of NOTIFY, by which the processes that have joined a store wake each other. A notice carries nothing that
/// is not in a table too, except what `Wakeups::publish` passes on, which may be lost.
namespace tenon::journal::postgres {

/// The channel of an owner, which listens to it; the parts of its name before the owner's id are the same for all.
[[nodiscard]] inline std::string channel_prefix(std::int64_t store) {
  return fmt::format("tenon_{}_", store);
}
[[nodiscard]] inline std::string channel_of(std::int64_t store, std::int64_t owner) {
  return fmt::format("{}{}", channel_prefix(store), owner);
}
/// The channel to which all owners listen: one has joined, left or died.
[[nodiscard]] inline std::string owners_channel(std::int64_t store) {
  return fmt::format("tenon_{}_owners", store);
}

}  // namespace tenon::journal::postgres
