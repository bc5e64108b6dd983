/* A second library, with a function that has the same name as one in the first library. */
#include <stdint.h>

int32_t add(int32_t x, int32_t y) { return x - y; }
int32_t only_here(void) { return 7; }
