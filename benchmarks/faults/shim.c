/* Preloaded into a process, this makes its disk slow and its clock jump, as the environment says at each call:
 *
 *     FAULT_DISK_MICROSECONDS  what every open, read, write, sync, link and rename of a file takes longer
 *     FAULT_CLOCK_SECONDS      how far the clock of the day has jumped; the monotonic clock goes on
 *     FAULT_CLOCK_CALLS        after how many looks at the clock it jumps
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static void wait_for_disk(void) {
    const char *text = getenv("FAULT_DISK_MICROSECONDS");
    if (text) usleep((useconds_t)atol(text));
}

static void wait_for_file(int file) {
    struct stat status;
    if (getenv("FAULT_DISK_MICROSECONDS") && fstat(file, &status) == 0 && S_ISREG(status.st_mode)) wait_for_disk();
}

ssize_t read(int file, void *data, size_t size) { wait_for_file(file); return REAL(read)(file, data, size); }
ssize_t write(int file, const void *data, size_t size) { wait_for_file(file); return REAL(write)(file, data, size); }
int fsync(int file) { wait_for_disk(); return REAL(fsync)(file); }
int fdatasync(int file) { wait_for_disk(); return REAL(fdatasync)(file); }
int link(const char *from, const char *to) { wait_for_disk(); return REAL(link)(from, to); }
int rename(const char *from, const char *to) { wait_for_disk(); return REAL(rename)(from, to); }

int open64(const char *path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(more, mode_t) : 0;
    va_end(more);
    wait_for_disk();
    return REAL(open64)(path, flags, mode);
}

static long jump(void) {
    static long calls;
    const char *seconds = getenv("FAULT_CLOCK_SECONDS"), *after = getenv("FAULT_CLOCK_CALLS");
    return seconds && ++calls > (after ? atol(after) : 0) ? atol(seconds) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    int failed = REAL(clock_gettime)(clock, now);
    if (!failed && clock == CLOCK_REALTIME) now->tv_sec += jump();
    return failed;
}

time_t time(time_t *into) {
    time_t now = REAL(time)(NULL) + jump();
    if (into) *into = now;
    return now;
}
