/* The program beside libtenon that performs externs declared `extern(process)`, each in a process of its own. */
#include <tenon/tenon.h>

int main(void) {
  return tenon_extern_worker();
}
