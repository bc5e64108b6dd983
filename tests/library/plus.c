#include <stdint.h>

int32_t plus(int32_t a, int32_t b);
int32_t plus(int32_t a, int32_t b) { return a + b; }
