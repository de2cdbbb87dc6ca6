#include "select/tuning_file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- where ---- */

static const char file_name[] = "skein/tuning";

static bool user_path(char path[SK_TUNING_PATH])
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    if (config && *config == '/')
        return snprintf(path, SK_TUNING_PATH, "%s/%s", config, file_name) < SK_TUNING_PATH;
    return home && *home == '/' &&
           snprintf(path, SK_TUNING_PATH, "%s/.config/%s", home, file_name) < SK_TUNING_PATH;
}

bool sk_tuning_find(const char *given, char path[SK_TUNING_PATH])
{
    if (strcmp(given, "off") == 0)
        return false;
    if (*given)
        return snprintf(path, SK_TUNING_PATH, "%s", given) < SK_TUNING_PATH;
    if (user_path(path) && access(path, F_OK) == 0)
        return true;
    snprintf(path, SK_TUNING_PATH, "/etc/%s", file_name);
    return access(path, F_OK) == 0;
}

bool sk_tuning_default(char path[SK_TUNING_PATH])
{
    return user_path(path);
}

/* ---- read and write ---- */

/* At most one byte more than a text may have. -1: see errno. */
static ssize_t read_whole(int fd, char *text)
{
    size_t n = 0;
    ssize_t got = 0;
    while (n <= SK_TUNING_BYTES &&
           ((got = read(fd, text + n, SK_TUNING_BYTES + 1 - n)) > 0 || (got < 0 && errno == EINTR)))
        n += got > 0 ? (size_t)got : 0;
    return got < 0 ? -1 : (ssize_t)n;
}

sk_status sk_tuning_load(const char *path, sk_tuning *t, char *err, size_t size)
{
    struct stat st;
    char why[SK_TUNING_ERR];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool file = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    char *text = file ? malloc(SK_TUNING_BYTES + 1) : NULL;
    ssize_t len = text ? read_whole(fd, text) : -1;
    sk_status status = SK_BADARG;
    if (fd >= 0 && !file)
        snprintf(err, size, "%s: not a file; give the file that `skein tune` has written", path);
    else if (len < 0)
        snprintf(err, size, "%s: %s; `skein tune` writes such a file", path, strerror(errno));
    else if ((status = sk_tuning_read(t, text, (size_t)len, why, sizeof why)) != SK_OK)
        snprintf(err, size, "%s:%s", path, why);
    free(text);
    if (fd >= 0)
        close(fd);
    return status;
}

/* The folders of a path. */
static void make_folders(const char *path)
{
    char part[SK_TUNING_PATH];
    for (const char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
        snprintf(part, sizeof part, "%.*s", (int)(at - path), path);
        mkdir(part, 0777);
    }
}

sk_status sk_tuning_save(const char *path, sk_tuning *t, char *err, size_t size)
{
    char beside[SK_TUNING_PATH + 24];
    char *text = sk_tuning_text(t, NULL);
    make_folders(path);
    snprintf(beside, sizeof beside, "%s.%ld", path, (long)getpid());
    int fd = text ? open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666) : -1;
    size_t len = text ? strlen(text) : 0, done = 0;
    for (ssize_t n; fd >= 0 && done < len && (n = write(fd, text + done, len - done)) > 0;)
        done += (size_t)n;
    bool ok = fd >= 0 && done == len;
    if (fd >= 0)
        ok = close(fd) == 0 && ok;
    ok = ok && rename(beside, path) == 0;
    if (!ok) {
        snprintf(err, size, "%s: cannot be written: %s; name another file", path, strerror(errno));
        if (fd >= 0)
            unlink(beside);
    }
    free(text);
    return ok ? SK_OK : SK_BADARG;
}

/* ---- the machine ---- */

/* What /proc/cpuinfo says of the first core. */
static void cpu_name(char *out, size_t size)
{
    static const char *const keys[] = {"model name", "cpu\t", "CPU part", "isa"};
    char line[256];
    FILE *f = fopen("/proc/cpuinfo", "re");
    snprintf(out, size, "unknown");
    for (size_t best = sizeof keys / sizeof *keys;
         f && fgets(line, sizeof line, f) && *line != '\n';)
        for (size_t k = 0; k < best; k++) {
            const char *colon = strchr(line, ':');
            if (colon && strncmp(line, keys[k], strlen(keys[k])) == 0) {
                snprintf(out, size, "%.*s", (int)strcspn(colon + 1, "\n"), colon + 1);
                best = k;
            }
        }
    if (f)
        fclose(f);
}

/* With single blanks, and without what a comment or another part begins with. */
static size_t put_words(char *out, size_t size, const char *text, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len && n + 1 < size; i++)
        if (isgraph((unsigned char)text[i]))
            out[n++] = text[i] == '#' || text[i] == ';' ? '.' : text[i];
        else if (n && out[n - 1] != ' ')
            out[n++] = ' ';
    n -= n && out[n - 1] == ' ';
    out[n] = '\0';
    return n;
}

void sk_tuning_fingerprint(const char *version, char out[SK_TUNING_NAME])
{
    char mpi[64], cpu[160], raw[160];
    cpu_name(raw, sizeof raw);
    put_words(cpu, sizeof cpu, raw, strlen(raw));
    put_words(mpi, sizeof mpi, version, strcspn(version, ",\n"));
    snprintf(out, SK_TUNING_NAME, "%s; %ld cores; %s", mpi, sysconf(_SC_NPROCESSORS_ONLN), cpu);
}

int sk_tuning_cores(const char *machine)
{
    int cores = 0;
    const char *rest = strchr(machine, ';');
    return rest && sscanf(rest, "; %d cores;", &cores) == 1 && cores > 0 ? cores : 0;
}

int sk_tuning_index(const sk_tuning *t, const char *fingerprint)
{
    const char *name;
    int any = -1;
    for (int i = 0; (name = sk_tuning_machine(t, i)); i++) {
        const char *rest = strchr(name, ';');
        if (strcmp(name, fingerprint) == 0 ||
            (*fingerprint == ';' && rest && strcmp(rest, fingerprint) == 0))
            return i;
        if (strcmp(name, "*") == 0)
            any = i;
    }
    return any;
}
