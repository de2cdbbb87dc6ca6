#include "base/status.h"

const char *sk_status_text(sk_status st)
{
    static const char *const text[] = {
#define X(code, words) [code] = (words),
        SK_STATUS_TABLE(X)
#undef X
    };
    return (unsigned)st < sizeof text / sizeof *text ? text[st] : "unknown status";
}
