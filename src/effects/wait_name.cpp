#include "effects/wait_name.h"

namespace tenon::effects {

std::string wait_name(std::string_view key, std::uint32_t earlier) {
  std::string name(key);
  if (earlier > 0) name += "#" + std::to_string(earlier);
  return name;
}

std::string_view key_of_wait(std::string_view wait) {
  return wait.substr(0, wait.find('#'));
}

}  // namespace tenon::effects
