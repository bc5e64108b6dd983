#pragma once

#include <span>
#include <string_view>

namespace tenon::server {

/// A file of the studio's page, compressed.
struct StudioFile {
  std::string_view name;  ///< `index.html`, or `assets/NAME`, whose name changes with its contents
  std::string_view gzip;
};

/// Empty: no studio.
using StudioFiles = std::span<const StudioFile>;

}  // namespace tenon::server
