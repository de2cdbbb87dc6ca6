#include "report/json.h"

/* The bytes of the UTF-8 character that begins here; 0: none does. */
static int character(const unsigned char *c)
{
    int n = *c < 0x80                  ? 1
            : *c >= 0xc2 && *c <= 0xdf ? 2
            : (*c & 0xf0) == 0xe0      ? 3
            : *c >= 0xf0 && *c <= 0xf4 ? 4
                                       : 0;
    for (int i = 1; i < n; i++)
        if ((c[i] & 0xc0) != 0x80)
            return 0;
    bool overlong = (*c == 0xe0 && c[1] < 0xa0) || (*c == 0xf0 && c[1] < 0x90);
    bool beyond = (*c == 0xed && c[1] >= 0xa0) || (*c == 0xf4 && c[1] >= 0x90);
    return overlong || beyond ? 0 : n;
}

void sk_json_text(FILE *out, const char *name, const char *text)
{
    fprintf(out, "\"%s\": ", name);
    if (!text) {
        fputs("null", out);
        return;
    }
    fputc('"', out);
    for (const unsigned char *c = (const unsigned char *)text; *c;) {
        int n = character(c);
        if (*c == '"' || *c == '\\')
            fprintf(out, "\\%c", *c);
        else if (n == 0)
            fputc('?', out);
        else if (*c >= ' ' && *c != 0x7f)
            fwrite(c, 1, (size_t)n, out);
        c += n ? n : 1;
    }
    fputc('"', out);
}
