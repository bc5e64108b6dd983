#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "blocks/kinds.h"

namespace tenon::server {

/// What a block can contain besides its options, as the palette names it.
inline constexpr auto palette_parts =
    std::to_array<std::pair<blocks::Part, std::string_view>>({{blocks::Part::When, "when"},
                                                              {blocks::Part::To, "to"},
                                                              {blocks::Part::On, "on"},
                                                              {blocks::Part::Else, "else"},
                                                              {blocks::Part::Called, "called"},
                                                              {blocks::Part::Items, "items"},
                                                              {blocks::Part::Branches, "branches"}});

}  // namespace tenon::server
