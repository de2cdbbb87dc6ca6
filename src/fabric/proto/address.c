#include "fabric/proto/address.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* "SKn" and the version: differs in the other byte order. */
#define WORD 0x534b6e00U
enum { VERSION = 1 };
#define MAGIC (WORD | VERSION)

uint64_t sk_address_id(void)
{
    uint64_t id = 0;
    while (id == 0)
        if (getrandom(&id, sizeof id, GRND_NONBLOCK) != (ssize_t)sizeof id)
            return 0;
    return id;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15U;
    return hash ^ hash >> 32;
}

/* False: the process cannot know its node, so it must not be taken for anybody's neighbor. */
static bool mix_boot(uint64_t *hash)
{
    char text[64];
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t got = read(fd, text, sizeof text);
    close(fd);
    if (got <= 0)
        return false;
    for (ssize_t i = 0; i < got; i++)
        *hash = mix(*hash, (unsigned char)text[i]);
    return true;
}

static bool mix_namespace(uint64_t *hash, const char *path)
{
    struct stat is;
    if (stat(path, &is) != 0)
        return false;
    *hash = mix(mix(*hash, is.st_dev), is.st_ino);
    return true;
}

/* Does /proc belong to our pid namespace? */
static bool own_proc(void)
{
    char link[32];
    ssize_t len = readlink("/proc/self", link, sizeof link - 1);
    if (len <= 0)
        return false;
    link[len] = 0;
    return strtol(link, NULL, 10) == (long)getpid();
}

uint64_t sk_address_node(void)
{
    uint64_t hash = 0xcbf29ce484222325U;
    if (!own_proc() || !mix_boot(&hash) || !mix_namespace(&hash, "/proc/self/ns/pid") ||
        !mix_namespace(&hash, "/proc/self/ns/user") || !mix_namespace(&hash, "/proc/self/ns/ipc"))
        return sk_address_id();
    return mix(mix(hash, geteuid()), getegid());
}

sk_status sk_address_make(sk_address *out, uint64_t id, uint64_t node, const void *shm,
                          size_t shm_len, const void *core, size_t core_len)
{
    if (id == 0)
        return SK_BADARG;
    if (shm_len > SK_ADDRESS_NAMES || core_len > SK_ADDRESS_NAMES - shm_len)
        return SK_TOOBIG;
    sk_address a = {.magic = MAGIC, .id = id, .node = node};
    a.shm_len = (uint8_t)shm_len;
    a.core_len = (uint8_t)core_len;
    if (shm_len)
        memcpy(a.names, shm, shm_len);
    if (core_len)
        memcpy(a.names + shm_len, core, core_len);
    *out = a;
    return SK_OK;
}

/* What is wrong with a name; NULL: nothing. */
static const char *fault(const sk_address *a, size_t len)
{
    if (len < sizeof *a)
        return "an endpoint's name is too short: it was cut, or made by another provider";
    if ((__builtin_bswap32(a->magic) & ~0xffU) == WORD)
        return "an endpoint's machine has the other byte order: Skein needs machines of one kind";
    if (a->magic != MAGIC)
        return (a->magic & ~0xffU) == WORD
                   ? "an endpoint's name is of another version: use the same Skein everywhere"
                   : "an endpoint's name is not Skein's: all processes must use the same provider";
    if (a->id == 0 || (size_t)a->shm_len + a->core_len > SK_ADDRESS_NAMES)
        return "an endpoint's name is damaged";
    return NULL;
}

sk_status sk_address_read(const void *bytes, size_t len, sk_address *out, const char **why)
{
    sk_address a = {0};
    memcpy(&a, bytes, len < sizeof a ? len : sizeof a);
    const char *wrong = fault(&a, len);
    if (wrong) {
        if (why)
            *why = wrong;
        return SK_BADARG;
    }
    *out = a;
    return SK_OK;
}
