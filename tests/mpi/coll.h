/* coll.h: call any collective in any of its forms from one argument record. */
#ifndef COLL_H
#define COLL_H

#include "testlib.h"

enum { T_ROOT = 1, T_OP = 2 };

typedef enum coll {
#define COLL(ID, Name, iname, traits, ...) C_##ID,
#include "colls.def"
#undef COLL
    NCOLLS
} coll;

typedef enum form { F_BLOCKING, F_NONBLOCKING, F_PERSISTENT, NFORMS } form;

/* The same members in the two forms that a call takes them. The displacements of alltoallw are
 * bytes, all others count extents. */
typedef struct counts {
    int scount, rcount;
    int *scounts, *sdispls, *rcounts, *rdispls;
} counts;
typedef struct big_counts {
    MPI_Count scount, rcount;
    MPI_Count *scounts, *rcounts;
    MPI_Aint *sdispls, *rdispls;
} big_counts;

typedef struct args {
    coll coll;
    const void *sbuf;
    void *rbuf;
    MPI_Datatype stype, rtype;
    MPI_Datatype *stypes, *rtypes; /* alltoallw */
    MPI_Op op;
    int root;
    MPI_Comm comm;
    counts ints;
    big_counts bigs;
} args;

const char *coll_name(coll c);
coll coll_find(const char *name); /* NCOLLS when there is none */
int coll_traits(coll c);
const char *form_name(form f, bool big);

/* Fill args.bigs from args.ints, whose arrays have so many entries on each side. */
void args_widen(args *a, int sn, int rn);
void args_free_wide(args *a);

/* Whether MPI_<form> exists here: the program may run without the library that brings it. */
bool form_exists(coll c, form f, bool big);

/* MPI_<collective> in the given form. `req` is unused by the blocking one; the persistent one
 * only makes the request. */
int coll_call(const args *a, form f, bool big, MPI_Request *req);

/* The host's own. */
int coll_host(const args *a);
int coll_host_form(const args *a, form f, MPI_Request *req);

#endif
