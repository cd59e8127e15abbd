// Loaded into a server under measurement with LD_PRELOAD: makes syncing slow, as on a slow disk, and sets its clock
// ahead, so that what a store does after days can be seen now. The server itself needs no code for it.
//
//   BENCH_SYNC_DELAY_FILE  a file with the microseconds each sync waits; none when it is missing or empty
//   BENCH_CLOCK_AHEAD_S    seconds the clock is ahead
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static void delay(void) {
  const char *path = getenv("BENCH_SYNC_DELAY_FILE");
  char text[16] = {0};
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return;
  if (read(file, text, sizeof text - 1) > 0 && atoi(text) > 0) usleep(atoi(text));
  close(file);
}

static long ahead(void) {
  const char *seconds = getenv("BENCH_CLOCK_AHEAD_S");
  return seconds ? atol(seconds) : 0;
}

int fsync(int file) {
  static int (*real)(int);
  if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  delay();
  return real(file);
}

int fdatasync(int file) {
  static int (*real)(int);
  if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  delay();
  return real(file);
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  int result = real(clock, time);
  if (clock == CLOCK_REALTIME && result == 0) time->tv_sec += ahead();
  return result;
}
