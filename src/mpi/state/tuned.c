#include "mpi/state/tuned.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void sk_tuned_machine(char name[SK_TUNING_NAME])
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int len = 0;
    sk_host.Get_library_version(version, &len);
    sk_tuning_fingerprint(version, name);
}

char *sk_tuned_read(void)
{
    char path[SK_TUNING_PATH], name[SK_TUNING_NAME], err[SK_TUNING_PATH + SK_TUNING_ERR];
    const char *given = sk_settings_text(sk_select_settings(sk_proc.select), SK_SET_TUNING);
    if (!sk_tuning_find(given, path))
        return NULL;
    sk_tuning *t = sk_tuning_new();
    char *text = NULL;
    if (t && sk_tuning_load(path, t, err, sizeof err) != SK_OK) {
        fprintf(stderr, "skein: %s (until then the tuning file is ignored)\n", err);
    } else if (t) {
        sk_tuned_machine(name);
        const char *found = sk_tuning_machine(t, sk_tuning_index(t, name));
        text = found ? sk_tuning_text(t, found) : NULL;
    }
    sk_tuning_free(t);
    return text;
}

void sk_tuned_share(MPI_Comm comm, int rank, const char *text, int64_t bytes)
{
    char err[SK_TUNING_ERR];
    char *copy = malloc((size_t)bytes);
    sk_tuning *t = sk_tuning_new();
    if (copy && rank == 0)
        memcpy(copy, text, (size_t)bytes);
    if (!copy || !t || sk_host.Bcast(copy, (int)bytes, MPI_CHAR, 0, comm) != MPI_SUCCESS ||
        sk_tuning_read(t, copy, (size_t)bytes, err, sizeof err) != SK_OK)
        sk_host.Abort(comm, MPI_ERR_NO_MEM); /* the others would choose by it */
    free(copy);
    sk_select_tune(sk_proc.select, t, 0);
}
