#include "engine/process_system.h"

#include <unistd.h>

#include <cstdlib>

namespace tenon::engine {

System process_system(FileSystem& files, Clock& clock) {
  return {.files = files,
          .clock = clock,
          .variable =
              [](const char* name) {
                const char* const value = std::getenv(name);
                return std::string(value == nullptr ? "" : value);
              },
          .variables =
              [] {
                std::vector<std::string> all;
                for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
                  all.emplace_back(*variable);
                }
                return all;
              },
          .random_unit = [] { return static_cast<double>(::arc4random()) / 4'294'967'296.0; }};
}

}  // namespace tenon::engine
