#pragma once

/* A thread that interrupts waits. */
#include <pthread.h>
#include <stdbool.h>
#include <tenon/tenon.h>
#include <time.h>

#include "checks.h"

typedef struct Interrupting {
  tenon_engine* engine; /* two of them are NULL */
  tenon_run* run;
  tenon_follower* follower;
  bool is_over; /* used by both threads */
  pthread_t thread;
} Interrupting;

/* Again until the end: a wait that has not begun is not interrupted. */
static void* interrupt_until_over(void* given) {
  Interrupting* interrupting = given;
  const struct timespec pause = {0, 1000000};
  while (!__atomic_load_n(&interrupting->is_over, __ATOMIC_RELAXED)) {
    tenon_engine_interrupt(interrupting->engine);
    tenon_run_interrupt(interrupting->run);
    tenon_follower_interrupt(interrupting->follower);
    nanosleep(&pause, NULL);
  }
  return NULL;
}

static void begin_interrupting(Interrupting* interrupting) {
  CHECK(pthread_create(&interrupting->thread, NULL, interrupt_until_over, interrupting) == 0);
}

static void end_interrupting(Interrupting* interrupting) {
  __atomic_store_n(&interrupting->is_over, true, __ATOMIC_RELAXED);
  CHECK(pthread_join(interrupting->thread, NULL) == 0);
}
