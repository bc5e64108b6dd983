#include "syntax/format.h"

#include "syntax/formatter.h"

namespace tenon::syntax {

std::string format(const SyntaxTree& tree) {
  return Formatter(tree).run();
}

}  // namespace tenon::syntax
