/* none.c: a program without MPI does not see that libskein.so has names of MPI. */
#include <dlfcn.h>
#include <stdio.h>

int main(void)
{
    void *self = dlopen(NULL, RTLD_NOW);
    int wrong = dlsym(RTLD_DEFAULT, "MPI_Init") != NULL || dlsym(RTLD_NEXT, "MPI_Init") != NULL ||
                dlsym(RTLD_DEFAULT, "skein_counter") != NULL || !dlerror() ||
                dlsym(self, "main") == NULL || dlsym(RTLD_DEFAULT, "printf") == NULL;
    puts(wrong ? "wrong" : "right");
    return wrong;
}
