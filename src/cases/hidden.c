/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hidden.c: a set of hidden cases from a secret seed, and the hash that commits to it.
 *
 * The generator takes 64 bits. Each operator has its own, the first of a SHA-256 over the secret
 * and the operator's name: whoever learns the cases of one operator learns nothing of another's.
 */
#include "assay/hidden.h"

#include <errno.h>
#include <fcntl.h>
#include <sha2.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DIGITS = 2 * ASSAY_HIDDEN_SEED_BYTES, MAX_FILE = 4096 };

/* ---- the seed -------------------------------------------------------------------------------- */

static int digit(char c)
{
    static const char lower[] = "0123456789abcdef", upper[] = "0123456789ABCDEF";
    const char *at = c ? strchr(lower, c) : NULL;

    if (at)
        return (int)(at - lower);
    at = c ? strchr(upper, c) : NULL;
    return at ? (int)(at - upper) : -1;
}

enum assay_status assay_hidden_seed_parse(struct assay_hidden_seed *s, const char *text, size_t len,
                                          struct assay_err *err)
{
    size_t n = len;

    n -= n > 0 && text[n - 1] == '\n';
    n -= n > 0 && text[n - 1] == '\r';
    if (n != DIGITS)
        return assay_fail(err, ASSAY_PARSE,
                          "no seed: %d hexadecimal digits expected, %zu characters found", DIGITS,
                          n);
    for (size_t i = 0; i < ASSAY_HIDDEN_SEED_BYTES; i++) {
        int hi = digit(text[2 * i]), lo = digit(text[2 * i + 1]);

        if (hi < 0 || lo < 0) {
            assay_hidden_seed_wipe(s);
            return assay_fail(err, ASSAY_PARSE, "no seed: character %zu is no hexadecimal digit",
                              2 * i + (hi < 0 ? 1 : 2));
        }
        s->b[i] = (uint8_t)(hi << 4 | lo);
    }
    return ASSAY_OK;
}

/* Pipes have no mode that means anything; what is behind them is not ours to judge. */
static enum assay_status check_mode(int fd, const char *path, struct assay_err *err)
{
    struct stat s;

    if (fstat(fd, &s))
        return assay_fail(err, ASSAY_IO, "%s: %s", path, strerror(errno));
    if (S_ISREG(s.st_mode) && (s.st_mode & (S_IRWXG | S_IRWXO)))
        return assay_fail(err, ASSAY_INVALID,
                          "%s is open to others (mode %04o) and keeps no secret: chmod 600 it, or "
                          "draw a new seed if others may have read it",
                          path, (unsigned)(s.st_mode & 07777));
    return ASSAY_OK;
}

enum assay_status assay_hidden_seed_read(struct assay_hidden_seed *s, const char *path,
                                         bool is_public, struct assay_err *err)
{
    struct assay_text text = { 0 };
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    enum assay_status st = ASSAY_OK;

    if (fd < 0)
        return assay_fail(err, ASSAY_INVALID, "cannot open %s: %s", path, strerror(errno));
    if (!is_public)
        st = check_mode(fd, path, err);
    if (!st)
        st = assay_file_read_fd(&text, fd, path, MAX_FILE, err);
    if (!st) {
        st = assay_hidden_seed_parse(s, text.data, text.len, err);
        if (st)
            assay_wrap(err, ASSAY_INVALID, "%s", path);
        explicit_bzero(text.data, text.len);
    }
    assay_text_release(&text);
    close(fd);
    return st == ASSAY_PARSE ? ASSAY_INVALID : st;
}

static enum assay_status draw_seed(struct assay_hidden_seed *s, struct assay_err *err)
{
    size_t n = 0;

    while (n < sizeof s->b) {
        ssize_t got = getrandom(s->b + n, sizeof s->b - n, 0);

        if (got < 0 && errno != EINTR)
            return assay_fail(err, ASSAY_IO, "no random numbers: %s", strerror(errno));
        n += got > 0 ? (size_t)got : 0;
    }
    return ASSAY_OK;
}

static void seed_text(char text[DIGITS + 1], const struct assay_hidden_seed *s)
{
    for (size_t i = 0; i < sizeof s->b; i++)
        snprintf(text + 2 * i, 3, "%02x", s->b[i]);
}

/* In one piece: what is shorter is no seed. */
static bool write_all(int fd, const char *text, size_t len)
{
    return write(fd, text, len) == (ssize_t)len && !fsync(fd);
}

enum assay_status assay_hidden_seed_new(const char *path, struct assay_err *err)
{
    struct assay_hidden_seed s;
    char text[DIGITS + 2];
    int fd;
    enum assay_status st = draw_seed(&s, err);

    if (st)
        return st;
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0 && errno == EEXIST)
        return assay_fail(err, ASSAY_INVALID,
                          "%s exists; a seed is never overwritten: name another file", path);
    if (fd < 0)
        return assay_fail(err, ASSAY_IO, "cannot make %s: %s", path, strerror(errno));
    seed_text(text, &s);
    text[DIGITS] = '\n';
    if (!write_all(fd, text, DIGITS + 1)) {
        st = assay_fail(err, ASSAY_IO, "cannot write %s: %s", path, strerror(errno));
        (void)unlink(path);
    }
    close(fd);
    explicit_bzero(text, sizeof text);
    assay_hidden_seed_wipe(&s);
    return st;
}

void assay_hidden_seed_wipe(struct assay_hidden_seed *s)
{
    explicit_bzero(s->b, sizeof s->b);
}

/* ---- what may leave the program -------------------------------------------------------------- */

/* Of "assay hidden WHAT", the seed, and some bytes. The end of the words is hashed, so that none
 * runs into what follows. */
static void begin(SHA2_CTX *ctx, const char *what, const struct assay_hidden_seed *seed)
{
    static const char prefix[] = "assay hidden ";

    SHA256Init(ctx);
    SHA256Update(ctx, (const uint8_t *)prefix, sizeof prefix - 1);
    SHA256Update(ctx, (const uint8_t *)what, strlen(what) + 1);
    SHA256Update(ctx, seed->b, sizeof seed->b);
}

static uint64_t first_bits(SHA2_CTX *ctx)
{
    uint8_t digest[SHA256_DIGEST_LENGTH];
    uint64_t v = 0;

    SHA256Final(digest, ctx);
    for (int i = 7; i >= 0; i--)
        v = v << 8 | digest[i];
    return v;
}

uint64_t assay_hidden_mix(const struct assay_hidden_seed *seed, const char *what, uint64_t v)
{
    SHA2_CTX ctx;
    uint8_t bytes[8];

    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(v >> (8 * i));
    begin(&ctx, what, seed);
    SHA256Update(&ctx, bytes, sizeof bytes);
    return first_bits(&ctx);
}

uint64_t assay_hidden_inputs(const struct assay_hidden_seed *seed, uint64_t v)
{
    uint64_t mixed = assay_hidden_mix(seed, "inputs", v);

    return mixed ? mixed : 1; /* 0 means: none */
}

void assay_hidden_blind(char hash[65], const struct assay_hidden_seed *seed)
{
    SHA2_CTX ctx;

    begin(&ctx, "operator", seed);
    SHA256Update(&ctx, (const uint8_t *)hash, strlen(hash));
    SHA256End(&ctx, hash);
}

/* ---- the cases ------------------------------------------------------------------------------- */

enum assay_status assay_hidden_draw(struct assay_suite *s, const struct assay_op *op,
                                    const struct assay_hidden_seed *seed, int n,
                                    struct assay_err *err)
{
    int from = s->n;
    enum assay_status st;
    SHA2_CTX ctx;

    begin(&ctx, "cases", seed);
    SHA256Update(&ctx, (const uint8_t *)op->name, strlen(op->name));
    /* its reasons say what was drawn */
    st = assay_cases_generate(s, op, first_bits(&ctx), n, NULL);
    if (st)
        return assay_fail(err, st == ASSAY_INVALID ? ASSAY_INTERNAL : st,
                          "cannot draw %d hidden cases of %s from this seed: %s", n, op->name,
                          st == ASSAY_INVALID ? "take another" : assay_status_text(st));
    for (int i = from; i < s->n; i++)
        s->cases[i].id += ASSAY_HIDDEN_FIRST - 1;
    return ASSAY_OK;
}

static enum assay_status add_cases(struct assay_text *out, const struct assay_op *op,
                                   const struct assay_hidden_seed *seed, int n,
                                   struct assay_err *err)
{
    struct assay_suite s = { 0 };
    enum assay_status st = assay_hidden_draw(&s, op, seed, n, err);

    for (int i = 0; i < s.n && !st; i++) {
        const struct assay_case *c = &s.cases[i];

        assay_cases_text(out, &c, 1);
    }
    assay_suite_release(&s);
    return st;
}

enum assay_status assay_hidden_text(struct assay_text *out, const struct assay_hidden_seed *seed,
                                    int n, struct assay_err *err)
{
    char hex[DIGITS + 1];

    if (n < ASSAY_HIDDEN_MIN || n > ASSAY_HIDDEN_MAX)
        return assay_fail(err, ASSAY_INVALID, "%d hidden cases of an operator, %d to %d can be had",
                          n, ASSAY_HIDDEN_MIN, ASSAY_HIDDEN_MAX);
    seed_text(hex, seed);
    assay_text_add(out, "assay hidden cases\ngenerator %d\ncount %d\nseed %s\n",
                   ASSAY_GENERATOR_VERSION, n, hex);
    explicit_bzero(hex, sizeof hex);
    for (const struct assay_op *const *op = assay_ops(); *op; op++)
        ASSAY_TRY(add_cases(out, *op, seed, n, err));
    return out->failed ? assay_fail(err, ASSAY_NOMEM, "out of memory for hidden cases") : ASSAY_OK;
}

enum assay_status assay_hidden_hash(char hash[65], const struct assay_hidden_seed *seed, int n,
                                    struct assay_err *err)
{
    struct assay_text text = { 0 };
    enum assay_status st = assay_hidden_text(&text, seed, n, err);

    if (!st)
        SHA256Data((const uint8_t *)text.data, text.len, hash);
    if (text.data)
        explicit_bzero(text.data, text.len);
    assay_text_release(&text);
    return st;
}
