/* Functions with plain C types, including ones that violate their declaration. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int32_t add(int32_t x, int32_t y) { return (int32_t)((uint32_t)x + (uint32_t)y); }
int64_t add_wide(int64_t x, int64_t y) { return (int64_t)((uint64_t)x + (uint64_t)y); }
double half(double x) { return x / 2; }
bool negate(bool x) { return !x; }
/* The older bool of C. */
int is_long(const char* text) { return strlen(text) > 3; }

int64_t calls_seen;
void count_call(void) { calls_seen++; }
int64_t calls(void) { return calls_seen; }

int64_t sum_of_ten(int64_t a, int32_t b, double c, bool d, int64_t e, int64_t f, int64_t g, double h, int64_t i,
                   const char* j) {
  return a + b + (int64_t)c + d + e + f + g + (int64_t)h + i + (int64_t)strlen(j);
}

int64_t byte_length(const char* text) { return (int64_t)strlen(text); }
const char* greeting(void) { return "Grüße, 世界"; }
const char* nothing(void) { return NULL; }
const char* not_utf8(void) { return "ab\xff"; }
const char* empty(void) { return ""; }

/* Memory that the caller frees, each with its own function. */
int64_t freed_by_name, freed_by_library;
char* twice(const char* text) {
  const size_t length = strlen(text);
  char* both = malloc(2 * length + 1);
  memcpy(both, text, length);
  memcpy(both + length, text, length + 1);
  return both;
}
void twice_free(char* text) {
  freed_by_name++;
  free(text);
}
static char* copied;
char* same(const char* text) {
  copied = malloc(strlen(text) + 1);
  return strcpy(copied, text);
}
void tenon_free(void* text) {
  freed_by_library++;
  /* Also called for the library's literals. */
  if (text == copied) free(text);
}
int64_t count_freed_by_name(void) { return freed_by_name; }
int64_t count_freed_by_library(void) { return freed_by_library; }

/* Violates any refinement that the program declares. */
int32_t give_150(void) { return 150; }
int64_t give_4(void) { return 4; }
const char* give_legal(void) { return "legal"; }

const int32_t table_of_numbers = 3;
