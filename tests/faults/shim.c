/* Fails the n-th call of the removal path once: cc -O1 -shared -fPIC -o shim.so shim.c -ldl
 *
 *   SHIM_ROOT   only paths below it count, so that sockets, libraries and the terminal stay well
 *   SHIM_ERROR  the errno that is returned
 *   SHIM_NTH    which call fails, from 1; 0: none
 *   SHIM_LOG    one line a call: what there is to fail
 *
 * Counted, in one counter for all threads: unlink, unlinkat, rename, fsync and fdatasync (files and folders),
 * ftruncate, pwrite, open. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static const char *root, *record;
static int error_number;
static long nth, calls;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define REAL(type, name, ...) \
    static type (*real)(__VA_ARGS__); \
    if (!real) real = (type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)

__attribute__((constructor)) static void begin(void) {
    root = getenv("SHIM_ROOT");
    record = getenv("SHIM_LOG");
    error_number = getenv("SHIM_ERROR") ? atoi(getenv("SHIM_ERROR")) : EIO;
    nth = getenv("SHIM_NTH") ? atol(getenv("SHIM_NTH")) : 0;
}

/* Whether this call has to fail. */
static int fails(const char *call, const char *path) {
    if (!root || !path || strncmp(path, root, strlen(root))) return 0;
    pthread_mutex_lock(&lock);
    int bad = ++calls == nth;
    if (record) {
        REAL(int, open64, const char *, int, ...);
        int out = real(record, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        if (out >= 0) {
            dprintf(out, "%ld %s %s\n", calls, call, path);
            close(out);
        }
    }
    pthread_mutex_unlock(&lock);
    if (bad) errno = error_number;
    return bad;
}

static const char *path_of(int fd, char *out) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, out, PATH_MAX - 1);
    if (length < 0) return NULL;
    out[length] = 0;
    return out;
}

#define ON_FD(type, name, call, parameters, ...) \
    type name parameters { \
        REAL(type, name, int, ...); \
        char path[PATH_MAX]; \
        if (fails(call, path_of(fd, path))) return -1; \
        return ((type (*) parameters)real)(__VA_ARGS__); \
    }
ON_FD(int, fsync, "fsync", (int fd), fd)
ON_FD(int, fdatasync, "fsync", (int fd), fd)
ON_FD(int, ftruncate, "ftruncate", (int fd, off_t size), fd, size)
ON_FD(int, ftruncate64, "ftruncate", (int fd, off64_t size), fd, size)
ON_FD(ssize_t, pwrite, "pwrite", (int fd, const void *bytes, size_t size, off_t at), fd, bytes, size, at)
ON_FD(ssize_t, pwrite64, "pwrite", (int fd, const void *bytes, size_t size, off64_t at), fd, bytes, size, at)

#define OPEN(name) \
    int name(const char *path, int flags, ...) { \
        REAL(int, name, const char *, int, ...); \
        va_list rest; \
        va_start(rest, flags); \
        int mode = va_arg(rest, int); \
        va_end(rest); \
        if (fails("open", path)) return -1; \
        return real(path, flags, mode); \
    }
OPEN(open)
OPEN(open64)

int rename(const char *from, const char *to) {
    REAL(int, rename, const char *, const char *);
    return fails("rename", from) ? -1 : real(from, to);
}

int unlink(const char *path) {
    REAL(int, unlink, const char *);
    return fails("unlink", path) ? -1 : real(path);
}

int unlinkat(int folder, const char *path, int flags) {
    REAL(int, unlinkat, int, const char *, int);
    return fails("unlink", path) ? -1 : real(folder, path, flags);
}
