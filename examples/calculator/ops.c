// The calculator's arithmetic, for `extern fn add(x: i32, y: i32) -> i32;` and its sister. Compile with:
//   cc -std=c99 -O2 -shared -fPIC -o libops.so ops.c
#include <stdint.h>

// C leaves signed overflow undefined, so the sums are taken on unsigned numbers, where they wrap around.
int32_t add(int32_t x, int32_t y) { return (int32_t)((uint32_t)x + (uint32_t)y); }

int32_t subtract(int32_t x, int32_t y) { return (int32_t)((uint32_t)x - (uint32_t)y); }
