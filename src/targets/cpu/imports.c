/* SPDX-License-Identifier: Apache-2.0 */
/*
 * imports.c: what a kernel may use of the system's libraries: memory and strings, mathematics,
 * printing (which leads nowhere), the run time of C and C++. Not here: threads, files, sockets,
 * processes, signals, mappings, loading of libraries, sleeping, and what would run at the end.
 */
#include "targets/cpu/audit.h"

#include <stdlib.h>
#include <string.h>

/* The tables stand in the order of strcmp(). */
/* clang-format off */
static const char *const names[] = {
    "_Exit", "_IO_2_1_stderr_", "_IO_2_1_stdout_", "_IO_putc", "_ITM_deregisterTMCloneTable",
    "_ITM_registerTMCloneTable", "_ZNSt6chrono3_V212steady_clock3nowEv",
    "_ZNSt6chrono3_V212system_clock3nowEv", "_ZNSt6locale7classicEv", "_ZNSt6localeC1ERKS_",
    "_ZNSt6localeC1Ev", "_ZNSt6localeC2Ev", "_ZNSt6localeD1Ev", "_ZNSt6localeD2Ev",
    "_ZNSt6localeaSERKS_", "_ZSt10unexpectedv", "_ZSt11_Hash_bytesPKvmm",
    "_ZSt15_Fnv_hash_bytesPKvmm", "_ZSt15get_new_handlerv", "_ZSt17current_exceptionv",
    "_ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE", "_ZSt18uncaught_exceptionv",
    "_ZSt19__throw_ios_failurePKc", "_ZSt19__throw_ios_failurePKci", "_ZSt19uncaught_exceptionsv",
    "_ZSt21__glibcxx_assert_failPKciS0_S0_", "_ZSt4cerr", "_ZSt4clog", "_ZSt4cout", "_ZSt7nothrow",
    "_ZSt9terminatev", "_ZdaPv", "_ZdaPvRKSt9nothrow_t", "_ZdaPvSt11align_val_t",
    "_ZdaPvSt11align_val_tRKSt9nothrow_t", "_ZdaPvm", "_ZdaPvmSt11align_val_t", "_ZdlPv",
    "_ZdlPvRKSt9nothrow_t", "_ZdlPvSt11align_val_t", "_ZdlPvSt11align_val_tRKSt9nothrow_t",
    "_ZdlPvm", "_ZdlPvmSt11align_val_t", "_Znam", "_ZnamRKSt9nothrow_t", "_ZnamSt11align_val_t",
    "_ZnamSt11align_val_tRKSt9nothrow_t", "_Znwm", "_ZnwmRKSt9nothrow_t", "_ZnwmSt11align_val_t",
    "_ZnwmSt11align_val_tRKSt9nothrow_t", "___tls_get_addr", "__asprintf_chk", "__assert",
    "__assert_fail", "__assert_perror_fail", "__bzero", "__chk_fail", "__cpu_features2",
    "__cpu_model", "__ctype_b_loc", "__ctype_get_mb_cur_max", "__ctype_tolower_loc",
    "__ctype_toupper_loc", "__cxa_allocate_dependent_exception", "__cxa_allocate_exception",
    "__cxa_bad_cast", "__cxa_bad_typeid", "__cxa_begin_catch", "__cxa_call_terminate",
    "__cxa_call_unexpected", "__cxa_current_exception_type", "__cxa_deleted_virtual",
    "__cxa_demangle", "__cxa_end_catch", "__cxa_finalize", "__cxa_free_dependent_exception",
    "__cxa_free_exception", "__cxa_get_exception_ptr", "__cxa_get_globals",
    "__cxa_get_globals_fast", "__cxa_guard_abort", "__cxa_guard_acquire", "__cxa_guard_release",
    "__cxa_init_primary_exception", "__cxa_pure_virtual", "__cxa_rethrow", "__cxa_throw",
    "__cxa_throw_bad_array_length", "__cxa_throw_bad_array_new_length", "__cxa_vec_cctor",
    "__cxa_vec_cleanup", "__cxa_vec_ctor", "__cxa_vec_delete", "__cxa_vec_delete2",
    "__cxa_vec_delete3", "__cxa_vec_dtor", "__cxa_vec_new", "__cxa_vec_new2", "__cxa_vec_new3",
    "__dprintf_chk", "__dynamic_cast", "__errno_location", "__explicit_bzero_chk", "__finite",
    "__finitef", "__finitel", "__fortify_fail", "__fpclassify", "__fpclassifyf", "__fpclassifyf128",
    "__fpclassifyl", "__fprintf_chk", "__gcc_personality_v0", "__gmon_start__",
    "__gnu_personality_v0", "__gxx_personality_v0", "__iseqsig", "__iseqsigf", "__iseqsigl",
    "__isinf", "__isinff", "__isinff128", "__isinfl", "__isnan", "__isnanf", "__isnanf128",
    "__isnanl", "__isoc23_sscanf", "__isoc23_strtoimax", "__isoc23_strtol", "__isoc23_strtoll",
    "__isoc23_strtoul", "__isoc23_strtoull", "__isoc23_strtoumax", "__isoc23_vsscanf",
    "__isoc99_sscanf", "__isoc99_vsscanf", "__issignaling", "__issignalingf", "__issignalingl",
    "__libc_single_threaded", "__longjmp_chk", "__memcpy_chk", "__memmove_chk", "__mempcpy",
    "__mempcpy_chk", "__memset_chk", "__printf_chk", "__rawmemchr", "__signbit", "__signbitf",
    "__signbitf128", "__signbitl", "__signgam", "__sigsetjmp", "__snprintf_chk", "__sprintf_chk",
    "__stack_chk_fail", "__stpcpy", "__stpcpy_chk", "__stpncpy_chk", "__strcat_chk", "__strcpy_chk",
    "__strdup", "__strlcat_chk", "__strlcpy_chk", "__strncat_chk", "__strncpy_chk", "__strndup",
    "__strtod_internal", "__strtol_internal", "__tls_get_addr", "__vasprintf_chk", "__vfprintf_chk",
    "__vprintf_chk", "__vsnprintf_chk", "__vsprintf_chk", "__xpg_strerror_r", "_exit", "_longjmp",
    "_setjmp", "abort", "abs", "aligned_alloc", "asprintf", "atof", "atoi", "atol", "atoll", "bcmp",
    "bcopy", "bsearch", "bzero", "calloc", "clearerr", "clock", "clock_getres", "clock_gettime",
    "difftime", "div", "dprintf", "drand48", "erand48", "exit", "explicit_bzero", "feclearexcept",
    "fedisableexcept", "feenableexcept", "fegetenv", "fegetexcept", "fegetexceptflag", "fegetmode",
    "fegetround", "feholdexcept", "feraiseexcept", "ferror", "fesetenv", "fesetexcept",
    "fesetexceptflag", "fesetmode", "fesetround", "fetestexcept", "fetestexceptflag", "feupdateenv",
    "fflush", "fflush_unlocked", "ffs", "ffsl", "ffsll", "fprintf", "fputc", "fputc_unlocked",
    "fputs", "fputs_unlocked", "free", "fwrite", "fwrite_unlocked", "getenv", "gettimeofday",
    "imaxabs", "imaxdiv", "index", "isalnum", "isalpha", "isblank", "iscntrl", "isdigit", "isgraph",
    "islower", "isprint", "ispunct", "isspace", "isupper", "isxdigit", "jrand48", "labs", "ldiv",
    "lfind", "lgamma_r", "lgammaf_r", "lgammal_r", "llabs", "lldiv", "localeconv", "longjmp",
    "lrand48", "lsearch", "malloc", "malloc_usable_size", "memalign", "memccpy", "memchr", "memcmp",
    "memcpy", "memmem", "memmove", "mempcpy", "memrchr", "memset", "mrand48", "nrand48", "perror",
    "posix_memalign", "printf", "pthread_mutex_destroy", "pthread_mutex_init", "pthread_mutex_lock",
    "pthread_mutex_trylock", "pthread_mutex_unlock", "pthread_self", "putc", "putc_unlocked",
    "putchar", "putchar_unlocked", "puts", "qsort", "qsort_r", "rand", "rand_r", "random",
    "rawmemchr", "realloc", "reallocarray", "rindex", "sched_yield", "secure_getenv", "seed48", "setbuf", "setjmp",
    "setvbuf", "siglongjmp", "signgam", "snprintf", "sprintf", "srand", "srand48", "srandom",
    "sscanf", "stderr", "stdout", "stpcpy", "stpncpy", "strcasecmp", "strcasestr", "strcat",
    "strchr", "strchrnul", "strcmp", "strcoll", "strcpy", "strcspn", "strdup", "strerror",
    "strerror_r", "strfromd", "strfromf", "strfroml", "strlcat", "strlcpy", "strlen", "strncasecmp",
    "strncat", "strncmp", "strncpy", "strndup", "strnlen", "strpbrk", "strrchr", "strsep",
    "strsignal", "strspn", "strstr", "strtod", "strtof", "strtoimax", "strtok", "strtok_r",
    "strtol", "strtold", "strtoll", "strtoq", "strtoul", "strtoull", "strtoumax", "strtouq",
    "strverscmp", "strxfrm", "swab", "time", "timespec_get", "tolower", "toupper", "valloc",
    "vasprintf", "vdprintf", "vfprintf", "vprintf", "vsnprintf", "vsprintf", "vsscanf", "wcscmp",
    "wcscpy", "wcslen", "wcsncmp", "wmemchr", "wmemcmp", "wmemcpy", "wmemmove", "wmemset",
};

/* Of libm: each for double, and with one of the endings below. */
static const char *const math[] = {
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cabs", "cacos", "cacosh",
    "canonicalize", "carg", "casin", "casinh", "catan", "catanh", "cbrt", "ccos", "ccosh", "ceil",
    "cexp", "cimag", "clog", "clog10", "conj", "copysign", "cos", "cosh", "cospi", "cpow", "cproj",
    "creal", "csin", "csinh", "csqrt", "ctan", "ctanh", "drem", "erf", "erfc", "exp", "exp10",
    "exp10m1", "exp2", "exp2m1", "expm1", "fabs", "fdim", "finite", "floor", "fma", "fmax",
    "fmaximum", "fmaximum_mag", "fmaximum_mag_num", "fmaximum_num", "fmaxmag", "fmin", "fminimum",
    "fminimum_mag", "fminimum_mag_num", "fminimum_num", "fminmag", "fmod", "frexp", "fromfp",
    "fromfpx", "gamma", "getpayload", "hypot", "ilogb", "isinf", "isnan", "j0", "j1", "jn", "ldexp",
    "lgamma", "llogb", "llrint", "llround", "log", "log10", "log10p1", "log1p", "log2", "log2p1",
    "logb", "logp1", "lrint", "lround", "modf", "nan", "nearbyint", "nextafter", "nextdown",
    "nexttoward", "nextup", "pow", "pow10", "remainder", "remquo", "rint", "round", "roundeven",
    "scalb", "scalbln", "scalbn", "setpayload", "setpayloadsig", "significand", "sin", "sincos",
    "sinh", "sinpi", "sqrt", "tan", "tanh", "tanpi", "tgamma", "totalorder", "totalordermag",
    "trunc", "ufromfp", "ufromfpx", "y0", "y1", "yn",
};
/* clang-format on */

static const char *const math_endings[] = { "", "f", "l", "f32", "f64", "f128", "f32x", "f64x" };

static int compare(const void *key, const void *row)
{
    return strcmp(key, *(const char *const *)row);
}

static bool is_in(const char *name, const char *const *table, size_t n)
{
    return bsearch(name, table, n, sizeof *table, compare) != NULL;
}

static bool ends_with(const char *name, size_t n, const char *end)
{
    size_t len = strlen(end);

    return n >= len && !memcmp(name + n - len, end, len);
}

/* ---- families -------------------------------------------------------------------------------- */

/* "sinf"; n letters of name. */
static bool is_math(const char *name, size_t n)
{
    for (size_t i = 0; i < sizeof math_endings / sizeof *math_endings; i++) {
        size_t end = strlen(math_endings[i]);
        char base[32];

        if (!ends_with(name, n, math_endings[i]) || n - end >= sizeof base)
            continue;
        memcpy(base, name, n - end);
        base[n - end] = 0;
        if (is_in(base, math, sizeof math / sizeof *math))
            return true;
    }
    return false;
}

/* "__expf_finite": what -ffast-math called until glibc 2.31. */
static bool is_finite(const char *name)
{
    size_t n = strlen(name), end = strlen("_finite");

    return !strncmp(name, "__", 2) && n > 2 + end && ends_with(name, n, "_finite") &&
           (is_math(name + 2, n - 2 - end) || !strncmp(name, "__lgamma", 8));
}

/* "_ZGVdN4v_sin": one of libmvec; letter of the instruction set, mask, lanes. */
static bool is_vector_math(const char *name)
{
    size_t at = 6;

    if (strncmp(name, "_ZGV", 4) != 0 || !name[4] || !strchr("bcdens", name[4]) || !name[5] ||
        !strchr("NM", name[5]))
        return false;
    at += strspn(name + at, "0123456789x");
    at += strspn(name + at, "vlu0123456789");
    return name[at] == '_' && is_math(name + at + 1, strlen(name + at + 1));
}

/* "__divti3", "__floatuntisf": arithmetic of libgcc, a verb, one or two modes, a count of operands.
 */
static bool is_arithmetic(const char *name)
{
    static const char *const verbs[] = {
        "abs",   "absv",    "add",      "addv",   "ashl", "ashr",    "bswap",  "clrsb",    "clz",
        "cmp",   "ctz",     "div",      "divmod", "eq",   "extend",  "ffs",    "fix",      "fixuns",
        "float", "floatun", "floatuns", "ge",     "gt",   "le",      "lshr",   "lt",       "mod",
        "mul",   "mulo",    "mulv",     "ne",     "neg",  "negv",    "parity", "popcount", "powi",
        "sub",   "subv",    "trunc",    "ucmp",   "udiv", "udivmod", "umod",   "unord",
    };
    static const char modes[] = "qi hi si di ti hf bf sf df xf tf hc sc dc xc tc ";

    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        size_t n = strlen(verbs[i]);
        const char *p;
        int found = 0;

        if (strncmp(name, "__", 2) != 0 || strncmp(name + 2, verbs[i], n) != 0)
            continue;
        for (p = name + 2 + n; found < 2 && p[0] && p[1]; p += 2, found++) {
            const char mode[] = { p[0], p[1], ' ', 0 };

            if (!strstr(modes, mode))
                break;
        }
        if (found > 0 && (!*p || (*p >= '2' && *p <= '4' && !p[1])))
            return true;
    }
    return false;
}

/* Classes and templates of libstdc++ that compute, and the streams that print or write to strings.
 * Some hold the names of others: see is_never(). */
static const char *const cxx_families[] = {
    "_Unwind_",
    "_ZN9__gnu_cxx", /* allocators, __verbose_terminate_handler */
    "_ZNKSa",        /* std::allocator<char> */
    "_ZNKSs",        /* std::string before 2011 */
    "_ZNKSt12bad_weak_ptr",
    "_ZNKSt13bad_exception",
    "_ZNKSt13runtime_error",
    "_ZNKSt11logic_error",
    "_ZNKSt5ctype",
    "_ZNKSt7__cxx1112basic_string",
    "_ZNKSt7__cxx1115basic_stringbuf",
    "_ZNKSt7__cxx1118basic_stringstream",
    "_ZNKSt7__cxx1119basic_ostringstream",
    "_ZNKSt8__detail",
    "_ZNKSt8bad_cast",
    "_ZNKSt9bad_alloc",
    "_ZNKSt9exception",
    "_ZNKSt9basic_ios",
    "_ZNKSt9type_info",
    "_ZNSirs", /* std::istream >> */
    "_ZNSo",   /* std::ostream */
    "_ZNSa",
    "_ZNSs",
    "_ZNSt10bad_typeid",
    "_ZNSt11logic_error",
    "_ZNSt11range_error",
    "_ZNSt12bad_weak_ptr",
    "_ZNSt12domain_error",
    "_ZNSt12length_error",
    "_ZNSt12out_of_range",
    "_ZNSt13bad_exception",
    "_ZNSt13runtime_error",
    "_ZNSt14overflow_error",
    "_ZNSt15__exception_ptr",
    "_ZNSt15basic_streambuf",
    "_ZNSt15underflow_error",
    "_ZNSt16invalid_argument",
    "_ZNSt17bad_function_call",
    "_ZNSt19_Sp_make_shared_tag",
    "_ZNSt3_V214error_category",
    "_ZNSt3pmr",
    "_ZNSt5ctype",
    "_ZNSt7__cxx1112basic_string",
    "_ZNSt7__cxx1115basic_stringbuf",
    "_ZNSt7__cxx1118basic_stringstream",
    "_ZNSt7__cxx1119basic_istringstream",
    "_ZNSt7__cxx1119basic_ostringstream",
    "_ZNSt8__detail",
    "_ZNSt8bad_cast",
    "_ZNSt8ios_base",
    "_ZNSt9bad_alloc",
    "_ZNSt9basic_ios",
    "_ZNSt9exception",
    "_ZNSt9type_info",
    "_ZSt10from_chars",
    "_ZSt16__ostream_insert",
    "_ZSt18_Rb_tree_",
    "_ZSt20_Rb_tree_",
    "_ZSt28_Rb_tree_",
    "_ZSt29_Rb_tree_",
    "_ZSt4endl",
    "_ZSt5flush",
    "_ZSt8to_chars",
    "_ZStls", /* << */
    "_ZTIN10__cxxabiv1",
    "_ZTINSt",
    "_ZTISt",
    "_ZTSNSt",
    "_ZTSSt",
    "_ZTTNSt7__cxx11",
    "_ZTVN10__cxxabiv1",
    "_ZTVNSt7__cxx11",
    "_ZTVSt",
};

static bool is_cxx(const char *name)
{
    for (size_t i = 0; i < sizeof cxx_families / sizeof *cxx_families; i++)
        if (!strncmp(name, cxx_families[i], strlen(cxx_families[i])))
            return true;
    /* _ZTI of a fundamental type, as in "_ZTIPKc": thrown by value. */
    if (!strncmp(name, "_ZTI", 4) && strlen(name) <= 7)
        return true;
    return !strncmp(name, "_ZSt", 4) && strspn(name + 4, "0123456789") == 2 &&
           !strncmp(name + 6, "__throw_", 8);
}

/* Parts of names that begin like allowed ones: files, threads, and what stays behind a call. */
static bool is_never(const char *name)
{
    static const char *const never[] = {
        "Init",          "thread",          "filebuf", "fstream",       "file",
        "sync",          "random_device",   "fopen",   "condition_var", "future",
        "promise",       "mutex",           "sleep",   "stdio_",        "register_callback",
        "set_terminate", "set_new_handler",
    };

    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        if (strstr(name, never[i]))
            return true;
    return false;
}

bool cpu_import_allowed(const char *name)
{
    return is_in(name, names, sizeof names / sizeof *names) || is_math(name, strlen(name)) ||
           is_finite(name) || is_vector_math(name) || is_arithmetic(name) ||
           (is_cxx(name) && !is_never(name));
}

const char *const *cpu_import_names(size_t *n)
{
    *n = sizeof names / sizeof *names;
    return names;
}
