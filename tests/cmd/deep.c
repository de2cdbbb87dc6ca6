/* deep.c: a program that needs MPI only through a library. */
int work(void);

int main(void)
{
    return work();
}
