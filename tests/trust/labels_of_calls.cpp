#include "tests/trust/labels_of_calls.h"

#include <algorithm>

namespace tenon::test {

std::string labels_of_calls(const RunRecord& record, const bytecode::Program& program, std::string_view callee) {
  const auto found = std::ranges::find(program.externs, callee, &bytecode::Extern::name);
  const std::string call = " extern " + std::to_string(found - program.externs.begin()) + " ";
  std::string labels;
  for (std::size_t at = 0; at < record.requests.size();) {
    const std::size_t end = record.requests.find('\n', at);
    const std::string_view line = std::string_view(record.requests).substr(at, end - at);
    if (line.find(call) != std::string_view::npos) {
      if (!labels.empty()) labels += "; ";
      const std::size_t begin = line.rfind('[') + 1;
      labels += line.substr(begin, line.size() - begin - 1);
    }
    at = end + 1;
  }
  return labels;
}

}  // namespace tenon::test
