#include "explain_neighbor.h"

#include <stdio.h>
#include <unistd.h>

#include "select/select.h"

static sk_status tally_all(const sk_neighbor_scene *s, sk_neighbor_tally *t)
{
    bool progress = isatty(STDERR_FILENO);
    sk_status st = SK_OK;
    for (int i = 0; i < SK_NMETHODS && st == SK_OK; i++) {
        if (progress)
            fprintf(stderr, "\rplanning: %s\033[K", sk_method_get((sk_method_id)i)->name);
        st = sk_neighbor_tally_take(s, (sk_method_id)i, &t[i]);
    }
    if (progress)
        fprintf(stderr, "\r\033[K");
    return st;
}

static int explain(const sk_neighbor_args *args)
{
    sk_neighbor_scene scene;
    sk_neighbor_tally tally[SK_NMETHODS] = {0};
    int status = sk_neighbor_scene_set(args, &scene);
    if (status >= 0)
        return status;
    sk_status st = tally_all(&scene, tally);
    if (st != SK_OK) {
        fprintf(stderr, "skein explain neighbor: %s\n", sk_status_text(st));
    } else {
        sk_neighbor_print(&scene, tally);
        if (args->rank >= 0)
            sk_neighbor_print_rank(&scene, tally);
    }
    for (int i = 0; i < SK_NMETHODS; i++)
        sk_pattern_free(tally[i].shown);
    sk_neighbor_scene_drop(&scene);
    return st != SK_OK;
}

int sk_explain_neighbor(int argc, char **argv)
{
    sk_neighbor_args args;
    sk_select *sel = NULL;
    char err[256];
    if (sk_select_new(environ, &sel, err, sizeof err) != SK_OK) {
        fprintf(stderr, "skein explain neighbor: %s\n", err);
        return 2;
    }
    int status = sk_neighbor_args_read(argc, argv, sk_select_settings(sel), &args);
    if (status < 0)
        status = explain(&args);
    sk_select_free(sel);
    return status;
}
