/* load.c LIBRARY: loads a library that uses MPI in a scope of its own, as Python does. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    int (*run)(int, char **) = NULL;
    if (library)
        *(void **)&run = dlsym(library, "calls_run");
    if (!run) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    return run(argc - 1, argv + 1);
}
