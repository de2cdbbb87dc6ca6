/* envelope.h: tags as Open MPI gives them to libfabric: communicator, two bits of its protocol,
 * 32-bit tag. Receives never ask for the protocol bits, so none of them is exact. */
#ifndef SK_ENVELOPE_H
#define SK_ENVELOPE_H

#include <stdint.h>

#define SK_TAG_PROTOCOL (UINT64_C(3) << 32)
#define SK_TAG_ANY      UINT64_C(0x7fffffff) /* the bits that MPI_ANY_TAG leaves open */

static inline uint64_t sk_tag(uint32_t comm, int32_t tag)
{
    return (uint64_t)comm << 34 | (uint32_t)tag;
}

#endif
