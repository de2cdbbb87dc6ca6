/* jumps.c: the exported names, each a jump through its slot. A slot that is not filled leads to
 * sk_front_first, which keeps the arguments, asks sk_front_target and jumps on: so the function finds
 * registers and stack as the caller left them. No argument of these functions is a floating-point
 * number. */
#include "front/front.h"

#if defined(__x86_64__) && defined(__LP64__) && !defined(SK_FRONT_PORTABLE)

#define JUMP(fn)                                                                                   \
    __asm__(".pushsection .text\n"                                                                 \
            ".globl " #fn "\n"                                                                     \
            ".type " #fn ", %function\n"                                                           \
            ".p2align 4\n" #fn ":\n"                                                               \
            ".cfi_startproc\n"                                                                     \
            "jmp *.Lslot_" #fn "(%rip)\n"                                                          \
            ".Lfirst_" #fn ":\n"                                                                   \
            "leaq .Lslot_" #fn "(%rip), %r11\n"                                                    \
            "jmp sk_front_first\n"                                                                 \
            ".cfi_endproc\n"                                                                       \
            ".size " #fn ", . - " #fn "\n"                                                         \
            ".popsection\n" SLOT(fn, ".Lfirst_" #fn));

__asm__(".pushsection .text\n"
        ".type sk_front_first, %function\n"
        "sk_front_first:\n"
        ".cfi_startproc\n"
        "pushq %rdi\n"
        "pushq %rsi\n"
        "pushq %rdx\n"
        "pushq %rcx\n"
        "pushq %r8\n"
        "pushq %r9\n"
        "subq $8, %rsp\n"
        ".cfi_def_cfa_offset 64\n"
        "movq %r11, %rdi\n"
        "call sk_front_target\n"
        "addq $8, %rsp\n"
        "popq %r9\n"
        "popq %r8\n"
        "popq %rcx\n"
        "popq %rdx\n"
        "popq %rsi\n"
        "popq %rdi\n"
        ".cfi_def_cfa_offset 8\n"
        "jmp *%rax\n"
        ".cfi_endproc\n"
        ".size sk_front_first, . - sk_front_first\n"
        ".popsection\n");

#elif defined(__aarch64__) && defined(__LP64__) && !defined(SK_FRONT_PORTABLE)

#define JUMP(fn)                                                                                   \
    __asm__(".pushsection .text\n"                                                                 \
            ".globl " #fn "\n"                                                                     \
            ".type " #fn ", %function\n"                                                           \
            ".p2align 4\n" #fn ":\n"                                                               \
            ".cfi_startproc\n"                                                                     \
            "adrp x16, .Lslot_" #fn "\n"                                                           \
            "add x16, x16, :lo12:.Lslot_" #fn "\n"                                                 \
            "ldar x17, [x16]\n"                                                                    \
            "br x17\n"                                                                             \
            ".cfi_endproc\n"                                                                       \
            ".size " #fn ", . - " #fn "\n"                                                         \
            ".popsection\n" SLOT(fn, "sk_front_first"));

/* x16 is the slot: see JUMP. */
__asm__(".pushsection .text\n"
        ".type sk_front_first, %function\n"
        "sk_front_first:\n"
        ".cfi_startproc\n"
        "stp x29, x30, [sp, #-96]!\n"
        ".cfi_def_cfa_offset 96\n"
        ".cfi_offset 29, -96\n"
        ".cfi_offset 30, -88\n"
        "mov x29, sp\n"
        "stp x0, x1, [sp, #16]\n"
        "stp x2, x3, [sp, #32]\n"
        "stp x4, x5, [sp, #48]\n"
        "stp x6, x7, [sp, #64]\n"
        "str x8, [sp, #80]\n"
        "mov x0, x16\n"
        "bl sk_front_target\n"
        "mov x16, x0\n"
        "ldp x0, x1, [sp, #16]\n"
        "ldp x2, x3, [sp, #32]\n"
        "ldp x4, x5, [sp, #48]\n"
        "ldp x6, x7, [sp, #64]\n"
        "ldr x8, [sp, #80]\n"
        "ldp x29, x30, [sp], #96\n"
        ".cfi_restore 30\n"
        ".cfi_restore 29\n"
        ".cfi_def_cfa_offset 0\n"
        "br x16\n"
        ".cfi_endproc\n"
        ".size sk_front_first, . - sk_front_first\n"
        ".popsection\n");

#else

/* Anywhere else in C. Each argument of these functions is an integer or a pointer, and none has more
 * than 12. On 64-bit Linux each of them has a register or 8 bytes of the stack, whatever its type, so 12
 * longs carry them all. */
#define PARAMS                                                                                     \
    long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k, long l
#define ARGS a, b, c, d, e, f, g, h, i, j, k, l
typedef long sk_front_call(PARAMS);

#define JUMP(fn)                                                                                   \
    static sk_front_call first_##fn;                                                               \
    static sk_front_slot slot_##fn                                                                 \
        __attribute__((section("sk_front_slots"), used, aligned(16))) = {(void *)first_##fn, #fn}; \
    static long first_##fn(PARAMS)                                                                 \
    {                                                                                              \
        return ((sk_front_call *)sk_front_target(&slot_##fn))(ARGS);                               \
    }                                                                                              \
    __attribute__((visibility("default"))) sk_front_call fn;                                       \
    long fn(PARAMS)                                                                                \
    {                                                                                              \
        return ((sk_front_call *)slot_##fn.target)(ARGS);                                          \
    }

#endif

/* The slot of a name: where it leads at first, and the name. */
#define SLOT(fn, first)                                                                            \
    ".pushsection .rodata\n"                                                                       \
    ".Lname_" #fn ": .string \"" #fn "\"\n"                                                        \
    ".popsection\n"                                                                                \
    ".pushsection sk_front_slots, \"aw\", %progbits\n"                                             \
    ".p2align 3\n"                                                                                 \
    ".Lslot_" #fn ": .quad " first ", .Lname_" #fn "\n"                                            \
    ".popsection\n"

#define NAME(fn) JUMP(fn) JUMP(P##fn)
#include "front/names.def"

JUMP(ucp_worker_progress)
