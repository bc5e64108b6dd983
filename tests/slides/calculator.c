#include <stdint.h>

int32_t add(int32_t x, int32_t y) { return (int32_t)((uint32_t)x + (uint32_t)y); }

int32_t subtract(int32_t x, int32_t y) { return (int32_t)((uint32_t)x - (uint32_t)y); }
