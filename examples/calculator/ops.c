// The calculator's arithmetic, for `extern fn add` and `extern fn subtract` of calculator.tn. Compile with:
//   cc -std=c99 -O2 -shared -fPIC -o libops.so ops.c
#include <stdint.h>

// Signed overflow is undefined in C, so the functions compute with unsigned numbers, which wrap around.
int32_t add(int32_t x, int32_t y) { return (int32_t)((uint32_t)x + (uint32_t)y); }

int32_t subtract(int32_t x, int32_t y) { return (int32_t)((uint32_t)x - (uint32_t)y); }
