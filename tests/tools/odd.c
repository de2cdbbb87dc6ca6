/* odd.c PART: calls beside the collectives, with and without collectives under way. Ends with status 1
 * if something is wrong.
 *   mpi_t      the tool interface
 *   errors     error handlers that return
 *   file       collective writes and reads of a file
 *   window     one-sided calls
 *   threads    collectives of several threads
 *   fork       a child that a rank starts */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 1000, ROUNDS = 4 };

static int rank, size, wrong;

static void expect(int ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "rank %d: wrong: %s\n", rank, what);
        wrong = 1;
    }
}

static void mpi_t(void)
{
    int provided, n = 0, one = 1, sum = 0;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_cvar_get_num(&n);
    expect(n > 0, "control variables");
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect(sum == size, "sum");
    MPI_T_finalize();
}

static int handled;

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    handled++;
}

static void errors(void)
{
    MPI_Errhandler mine, got;
    MPI_Comm dup;
    int one = 1, sum, class = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_create_errhandler(handler, &mine);
    MPI_Comm_set_errhandler(dup, mine);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, dup);
    expect(handled == 0, "no error yet");
    MPI_Bcast(&one, -1, MPI_INT, 0, dup);
    expect(handled == 1, "the handler was called once");
    MPI_Comm_get_errhandler(dup, &got);
    expect(got == mine, "the handler is the user's");
    MPI_Errhandler_free(&got);
    MPI_Comm_set_errhandler(dup, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Bcast(&one, 1, MPI_INT, size, dup), &class);
    expect(class == MPI_ERR_ROOT, "wrong root");
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, dup);
    expect(sum == size, "sum after errors");
    MPI_Errhandler_free(&mine);
    MPI_Comm_free(&dup);
}

/* Collectives that are under way while `work` runs. */
static void beside(void (*work)(void))
{
    int in[ROUNDS], out[ROUNDS];
    MPI_Request requests[ROUNDS];
    work();
    for (int i = 0; i < ROUNDS; i++) {
        in[i] = rank + i;
        MPI_Iallreduce(&in[i], &out[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[i]);
    }
    work();
    MPI_Waitall(ROUNDS, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < ROUNDS; i++)
        expect(out[i] == size * (size - 1) / 2 + size * i, "sums of nonblocking calls");
    work();
}

static const char *path;

static void file(void)
{
    MPI_File f;
    int data[N], back[N];
    MPI_Offset at = (MPI_Offset)rank * (MPI_Offset)sizeof data;
    for (int i = 0; i < N; i++)
        data[i] = rank * N + i;
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
    MPI_File_write_at_all(f, at, data, N, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_sync(f);
    MPI_Barrier(MPI_COMM_WORLD);
    memset(back, 0, sizeof back);
    MPI_File_read_at_all(f, (MPI_Offset)((rank + 1) % size) * (MPI_Offset)sizeof data, back, N,
                         MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&f);
    expect(back[N - 1] == (rank + 1) % size * N + N - 1, "what another rank wrote");
}

static void window(void)
{
    MPI_Win w;
    int memory[4] = {-1, -1, -1, -1}, *mine = memory, value = 10 + rank;
    MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &w);
    MPI_Win_fence(0, w);
    MPI_Put(&value, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, w);
    MPI_Win_fence(0, w);
    expect(*mine == 10 + (rank + size - 1) % size, "put");
    MPI_Win_free(&w);
}

static void *sums(void *comm)
{
    int one = 1, sum = 0;
    for (int i = 0; i < N / 10; i++) {
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, *(MPI_Comm *)comm);
        if (sum != size)
            return "wrong";
    }
    return NULL;
}

static void threads(void)
{
    MPI_Comm comm[2];
    pthread_t thread[2];
    for (int i = 0; i < 2; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, sums, &comm[i]);
    for (int i = 0; i < 2; i++) {
        void *result;
        pthread_join(thread[i], &result);
        expect(!result, "sums of a thread");
        MPI_Comm_free(&comm[i]);
    }
}

/* The child must not think that it is a rank, whatever it is. */
static void child(void)
{
    int status = 0, one = 1, sum = 0;
    pid_t pid = fork();
    if (pid == 0) {
        execlp("sh", "sh", "-c", "exit 7", (char *)NULL);
        _exit(1);
    }
    waitpid(pid, &status, 0);
    expect(WIFEXITED(status) && WEXITSTATUS(status) == 7, "status of a child");
    pid = fork();
    if (pid == 0)
        exit(8); /* with handlers of exit and destructors */
    waitpid(pid, &status, 0);
    expect(WIFEXITED(status) && WEXITSTATUS(status) == 8, "status of a child that exits");
    for (int i = 0; i < 8; i++)
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect(sum == size, "sum after fork");
}

int main(int argc, char **argv)
{
    const char *part = argv[1];
    int level, one = 1, sum;
    path = argc > 2 ? argv[2] : NULL;
    MPI_Init_thread(&argc, &argv,
                    strcmp(part, "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 6; i++)
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (strcmp(part, "mpi_t") == 0)
        mpi_t();
    else if (strcmp(part, "errors") == 0)
        errors();
    else if (strcmp(part, "file") == 0)
        beside(file);
    else if (strcmp(part, "window") == 0)
        beside(window);
    else if (strcmp(part, "threads") == 0 && level == MPI_THREAD_MULTIPLE)
        threads();
    else if (strcmp(part, "fork") == 0)
        child();
    MPI_Finalize();
    return wrong;
}
