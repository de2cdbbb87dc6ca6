/* empty.c: a library that stands in for another. */
int sk_test_nothing;
