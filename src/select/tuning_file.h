/* tuning_file.h: the file of a tuning (tuning.h): where it is, and what makes it valid for a machine. */
#ifndef SK_TUNING_FILE_H
#define SK_TUNING_FILE_H

#include "select/tuning.h"

enum { SK_TUNING_PATH = 4096, SK_TUNING_NAME = 240, SK_TUNING_ERR = 512 };

/* The file to read: `given` (SKEIN_TUNING; "off": none), else tuning in $XDG_CONFIG_HOME/skein, ~/.config/skein
 * or /etc/skein, the first that exists. False: none. */
bool sk_tuning_find(const char *given, char path[SK_TUNING_PATH]);

/* The file that is written unless the user names one: the first of these places. False: there is no home. */
bool sk_tuning_default(char path[SK_TUNING_PATH]);

/* Reads a file into `t`. On failure `err` is "FILE:LINE: what is wrong; what to do". */
sk_status sk_tuning_load(const char *path, sk_tuning *t, char *err, size_t size);

/* Writes all of it: to another file first, so that no reader sees a part. Makes the folder of it. */
sk_status sk_tuning_save(const char *path, sk_tuning *t, char *err, size_t size);

/* "Open MPI v4.1.4; 8 cores; AMD EPYC 7402": the MPI, by what it says of its version, the cores of this node and
 * what they are. No host name. */
void sk_tuning_fingerprint(const char *version, char out[SK_TUNING_NAME]);

/* The cores that it names; 0: none. */
int sk_tuning_cores(const char *machine);

/* The index of the machine in `t`, or of the machine "*", which stands for all others; -1: neither is there.
 * Without an MPI ("; 8 cores; ..."): the first with any. */
int sk_tuning_index(const sk_tuning *t, const char *fingerprint);

#endif
