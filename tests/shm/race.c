/* race.c: a race that the thread sanitizer must find. */
#include <pthread.h>

static int shared;

static void *add(void *none)
{
    shared++;
    return none;
}

int main(void)
{
    pthread_t t;
    if (pthread_create(&t, 0, add, 0))
        return 1;
    shared++;
    return pthread_join(t, 0);
}
