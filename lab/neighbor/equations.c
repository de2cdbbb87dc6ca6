/* equations.c: the distance-halving paper's section V as printed, for random graphs of density
 * delta with n ranks, L on a socket: E[n_off] (1), E[n_in] (2) and E[m_in] (3).
 *
 * The paper's worked example (2000 ranks, L = 20, delta 0.3: "7 off-socket") counts ceil(log2(n/L))
 * = 7 without the + 1 of equation 1; here it is 8. What halving really sends is in method/halving/halving.c.
 * */
#include "lab/neighbor/equations.h"

#include <stdint.h>

/* Halvings until at most L of n ranks are left: ceil(log2(n / L)). */
static int halvings(int n, int L)
{
    int steps = 0;
    for (int64_t reach = L; reach < n; reach *= 2)
        steps++;
    return steps;
}

double sk_equation_off(int n, int L, double delta)
{
    double steps = halvings(n, L) + 1, targets = delta * (n - L);
    return steps < targets ? steps : targets;
}

double sk_equation_in(int n, int L, double delta)
{
    double none = 1;
    for (int i = halvings(n, L) + 2; i > 0; i--)
        none *= 1 - delta;
    return (1 - none) * L;
}

double sk_equation_in_bytes(int n, int L, double delta, double m)
{
    return delta * sk_equation_in(n, L, delta) * m;
}
