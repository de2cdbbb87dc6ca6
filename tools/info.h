/* info.h: parts of `skein info`. */
#ifndef SK_INFO_H
#define SK_INFO_H

void sk_info_match(void);      /* engines and the libfabric provider */
void sk_info_mdoc_match(void); /* the engines, as manual page source */

#endif
