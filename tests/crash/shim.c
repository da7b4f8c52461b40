/* What a process does to the files of one folder, and what it says on sockets, in the order in which it happens.
 *
 * Loaded before the C library (LD_PRELOAD). Every write, truncation, sync, creation, renaming and removal under
 * POWERCUT_FOLDER and every message on a socket is noted in the file POWERCUT_LOG, from which a test rebuilds
 * the files as they would be if the power had failed at any moment. With POWERCUT_DIE_AT=N the process ends
 * by itself before the N-th sync of a log file (its pages are in memory and not on the disk); with
 * POWERCUT_FAIL_AT=N that sync fails instead, and with POWERCUT_FAIL_DIES=1 the process ends there too.
 *
 * A record: one letter, length of the name (u8), of the second part (u32), offset (u64); then name and part.
 *   C created   W written   T truncated to offset   F sync begun   f sync done   D folder synced
 *   X sync failed: the kernel calls the pages clean now, though the disk never got them
 *   R renamed to part   U removed   S said on a socket
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define FDS 4096
#define NAME 255

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char folder[1024];
static size_t folder_length;
static int record_fd = -1;
static long syncs, die_at, fail_at, fail_dies;
static struct { char kind; char name[NAME + 1]; } known[FDS]; /* kind: 0 unknown, f file, d folder */

#define REAL(name) \
    static __typeof__(name) *real; \
    if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

__attribute__((constructor)) static void begin(void)
{
    const char *where = getenv("POWERCUT_FOLDER"), *log = getenv("POWERCUT_LOG");
    const char *die = getenv("POWERCUT_DIE_AT"), *fail = getenv("POWERCUT_FAIL_AT");
    fail_dies = getenv("POWERCUT_FAIL_DIES") != NULL;
    if (!where || !log || strlen(where) >= sizeof folder)
        return;
    strcpy(folder, where);
    folder_length = strlen(folder);
    die_at = die ? atol(die) : 0;
    fail_at = fail ? atol(fail) : 0;
    record_fd = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
}

static void note(char letter, const char *name, uint64_t offset, const void *part, uint32_t length)
{
    struct __attribute__((packed)) { char letter; uint8_t named; uint32_t length; uint64_t offset; } head =
        {letter, (uint8_t)strlen(name), length, offset};
    struct iovec all[3] = {{&head, sizeof head}, {(void *)name, head.named}, {(void *)part, length}};
    if (record_fd >= 0)
        syscall(SYS_writev, record_fd, all, 3);
}

/* The name of a path inside the folder; NULL: it is elsewhere. "": the folder itself. */
static const char *inside(const char *path)
{
    if (record_fd < 0 || strncmp(path, folder, folder_length))
        return NULL;
    if (!path[folder_length])
        return "";
    if (path[folder_length] != '/' || strchr(path + folder_length + 1, '/') || strlen(path + folder_length) > NAME)
        return NULL;
    return path + folder_length + 1;
}

static const char *file_of(int fd)
{
    return fd >= 0 && fd < FDS && known[fd].kind == 'f' ? known[fd].name : NULL;
}

static int opened(int fd, const char *path, int flags, int was_there)
{
    const char *name = inside(path);
    if (fd < 0 || fd >= FDS || !name)
        return fd;
    pthread_mutex_lock(&lock);
    known[fd].kind = *name ? 'f' : 'd';
    strcpy(known[fd].name, name);
    if (*name && (flags & O_CREAT) && !was_there)
        note('C', name, 0, "", 0);
    if (*name && (flags & O_TRUNC))
        note('T', name, 0, "", 0);
    pthread_mutex_unlock(&lock);
    return fd;
}

#define OPEN(name) \
    int name(const char *path, int flags, ...) \
    { \
        REAL(name); \
        va_list more; \
        va_start(more, flags); \
        mode_t mode = va_arg(more, mode_t); \
        va_end(more); \
        int was_there = !syscall(SYS_faccessat, AT_FDCWD, path, F_OK); \
        return opened(real(path, flags, mode), path, flags, was_there); \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name) \
    int name(int at, const char *path, int flags, ...) \
    { \
        REAL(name); \
        va_list more; \
        va_start(more, flags); \
        mode_t mode = va_arg(more, mode_t); \
        va_end(more); \
        int was_there = !syscall(SYS_faccessat, at, path, F_OK); \
        return opened(real(at, path, flags, mode), path, flags, was_there); \
    }
OPENAT(openat)
OPENAT(openat64)

int close(int fd)
{
    REAL(close);
    if (fd >= 0 && fd < FDS)
        known[fd].kind = 0;
    return real(fd);
}

#define PWRITE(name, offset_type) \
    ssize_t name(int fd, const void *data, size_t length, offset_type offset) \
    { \
        REAL(name); \
        const char *file = file_of(fd); \
        if (!file) \
            return real(fd, data, length, offset); \
        pthread_mutex_lock(&lock); \
        ssize_t written = real(fd, data, length, offset); \
        if (written > 0) \
            note('W', file, (uint64_t)offset, data, (uint32_t)written); \
        pthread_mutex_unlock(&lock); \
        return written; \
    }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

static void said(int fd, const void *data, size_t length)
{
    struct stat what;
    if (record_fd < 0 || fstat(fd, &what) || !S_ISSOCK(what.st_mode))
        return;
    pthread_mutex_lock(&lock);
    note('S', "", 0, data, (uint32_t)length);
    pthread_mutex_unlock(&lock);
}

ssize_t write(int fd, const void *data, size_t length)
{
    REAL(write);
    const char *file = file_of(fd);
    if (!file) {
        said(fd, data, length);
        return real(fd, data, length);
    }
    pthread_mutex_lock(&lock);
    off_t offset = lseek(fd, 0, SEEK_CUR);
    ssize_t written = real(fd, data, length);
    if (written > 0)
        note('W', file, (uint64_t)offset, data, (uint32_t)written);
    pthread_mutex_unlock(&lock);
    return written;
}

ssize_t send(int fd, const void *data, size_t length, int flags)
{
    REAL(send);
    said(fd, data, length);
    return real(fd, data, length, flags);
}

ssize_t sendto(int fd, const void *data, size_t length, int flags, const struct sockaddr *to, socklen_t size)
{
    REAL(sendto);
    said(fd, data, length);
    return real(fd, data, length, flags, to, size);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    REAL(sendmsg);
    for (size_t i = 0; i < message->msg_iovlen; i++)
        said(fd, message->msg_iov[i].iov_base, message->msg_iov[i].iov_len);
    return real(fd, message, flags);
}

/* Whether this sync goes on (1), or fails (0). */
static int sync_begins(int fd, char *name)
{
    int goes_on = 1;
    pthread_mutex_lock(&lock);
    const char *file = file_of(fd);
    *name = 0;
    if (file) {
        strcpy(name, file);
        size_t length = strlen(name);
        if (length > 4 && !strcmp(name + length - 4, "-wal")) {
            syncs++;
            if (syncs == die_at)
                kill(getpid(), SIGKILL);
            goes_on = syncs != fail_at;
        }
        note(goes_on ? 'F' : 'X', name, 0, "", 0);
        if (!goes_on && fail_dies)
            kill(getpid(), SIGKILL);
    }
    pthread_mutex_unlock(&lock);
    return goes_on;
}

static void sync_done(int fd, const char *name)
{
    pthread_mutex_lock(&lock);
    if (*name)
        note('f', name, 0, "", 0);
    else if (fd >= 0 && fd < FDS && known[fd].kind == 'd')
        note('D', "", 0, "", 0);
    pthread_mutex_unlock(&lock);
}

#define SYNC(sync) \
    int sync(int fd) \
    { \
        REAL(sync); \
        char name[NAME + 1]; \
        if (!sync_begins(fd, name)) { \
            errno = EIO; \
            return -1; \
        } \
        int failed = real(fd); \
        if (!failed) \
            sync_done(fd, name); \
        return failed; \
    }
SYNC(fsync)
SYNC(fdatasync)

#define TRUNCATE(name, length_type) \
    int name(int fd, length_type length) \
    { \
        REAL(name); \
        const char *file = file_of(fd); \
        if (!file) \
            return real(fd, length); \
        pthread_mutex_lock(&lock); \
        int failed = real(fd, length); \
        if (!failed) \
            note('T', file, (uint64_t)length, "", 0); \
        pthread_mutex_unlock(&lock); \
        return failed; \
    }
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

int unlink(const char *path)
{
    REAL(unlink);
    const char *name = inside(path);
    pthread_mutex_lock(&lock);
    int failed = real(path);
    if (!failed && name)
        note('U', name, 0, "", 0);
    pthread_mutex_unlock(&lock);
    return failed;
}

int rename(const char *path, const char *to)
{
    REAL(rename);
    const char *name = inside(path), *other = inside(to);
    pthread_mutex_lock(&lock);
    int failed = real(path, to);
    if (!failed && name && other)
        note('R', name, 0, other, (uint32_t)strlen(other));
    pthread_mutex_unlock(&lock);
    return failed;
}
