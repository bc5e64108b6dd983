#include "base/ensure.h"

#include <cstdio>
#include <cstdlib>

namespace tenon {

void stop_on_broken_condition(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "tenon: internal error at %s:%d: %s does not hold\n", file, line, condition);
  std::abort();
}

}  // namespace tenon
