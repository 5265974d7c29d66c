/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_cases.c: `assay cases`: checks the public cases, makes cases, commits to hidden ones and
 * reveals them. */
#include "base/json.h"
#include "cli/cli.h"

#include <errno.h>
#include <sha2.h>
#include <string.h>
#include <sys/stat.h>

enum { HASH_DIGITS = 64, PUBLIC_COUNT = 20 };

struct choice {
    const char *op, *seed_file, *new_seed, *hash, *from, *out;
    uint64_t seed;
    int count;
    bool seed_given, count_given, commit, reveal, json;
};

/* ---- check ----------------------------------------------------------------------------------- */

/* One operator: what its file says, or the first rule that it breaks. */
static enum assay_status check_op(struct assay_suite *s, const struct assay_op *op, const char *dir,
                                  struct assay_err *err)
{
    char path[ASSAY_PATH_MAX + 64];

    snprintf(path, sizeof path, "%.4000s/%s.json", dir, op->name);
    ASSAY_TRY(assay_suite_add_own(s, op, path, err));
    return assay_cases_check_rules(s, op, err);
}

static void put_check(struct assay_text *t, bool json, bool first, const struct assay_op *op, int n,
                      const char *why)
{
    if (!json) {
        assay_text_add(t, "%-24s %3d cases  %s%s\n", op->name, n, why ? "FAILED: " : "ok",
                       why ? why : "");
        return;
    }
    assay_text_add(t, "%s\n{\"op\":", first ? "" : ",");
    assay__json_add_string(t, op->name);
    assay_text_add(t, ",\"cases\":%d,\"ok\":%s,\"error\":", n, why ? "false" : "true");
    assay__json_add_string(t, why);
    assay_text_add(t, "}");
}

static int check(const struct choice *c)
{
    struct assay__selection sel;
    struct assay_home home;
    struct assay_text t = { 0 };
    struct assay_err err = { "" };
    int failed = 0, code;
    enum assay_status st = assay__home_find(&home, &err);

    if (st)
        return assay__failure("cases", st, &err);
    if (!assay__select_ops(&sel, "cases", c->op, NULL, 0))
        return ASSAY__EXIT_USAGE;
    if (c->json)
        assay_text_add(&t, "{\"operators\":[");
    for (int i = 0; i < sel.n && st != ASSAY_NOMEM; i++) {
        struct assay_suite s = { 0 };

        st = check_op(&s, sel.ops[i], c->from ? c->from : home.cases, &err);
        put_check(&t, c->json, i == 0, sel.ops[i], s.n, st ? err.text : NULL);
        failed += st != ASSAY_OK;
        assay_suite_release(&s);
    }
    if (c->json)
        assay_text_add(&t, "]}\n");
    code = assay__print_text("cases", &t);
    return code ? code : failed ? ASSAY__EXIT_FAILED : ASSAY__EXIT_PASSED;
}

/* ---- make ------------------------------------------------------------------------------------ */

/* As data/cases/OP.json: to stdout, or into a folder. */
static enum assay_status put_file(const struct assay_suite *s, const struct assay_op *op,
                                  const char *dir, struct assay_err *err)
{
    struct assay_text t = { 0 };
    char path[ASSAY_PATH_MAX + 64];
    enum assay_status st = assay_cases_print(&t, s, op, err);

    snprintf(path, sizeof path, "%.4000s/%s.json", dir ? dir : ".", op->name);
    if (!st && dir)
        st = assay_file_write(path, t.data, t.len, err);
    else if (!st && fwrite(t.data, 1, t.len, stdout) != t.len)
        st = assay_fail(err, ASSAY_IO, "cannot write to standard output: %s", strerror(errno));
    assay_text_release(&t);
    return st;
}

static enum assay_status make_dir(const char *dir, struct assay_err *err)
{
    if (dir && mkdir(dir, 0777) && errno != EEXIST)
        return assay_fail(err, ASSAY_IO, "cannot make the folder %s: %s", dir, strerror(errno));
    return ASSAY_OK;
}

/* From the secret seed the hidden cases, else cases with ids from 1. */
static enum assay_status put_ops(const struct choice *c, const struct assay_op *const *ops,
                                 const struct assay_hidden_seed *secret, struct assay_err *err)
{
    enum assay_status st = make_dir(c->out, err);

    for (int i = 0; ops[i] && !st; i++) {
        struct assay_suite s = { 0 };

        st = secret ? assay_hidden_draw(&s, ops[i], secret, c->count, err)
                    : assay_cases_generate(&s, ops[i], c->seed, c->count, err);
        if (!st)
            st = put_file(&s, ops[i], c->out, err);
        assay_suite_release(&s);
    }
    return st;
}

static int make(const struct choice *c)
{
    struct assay__selection sel;
    struct assay_hidden_seed secret = { { 0 } };
    struct assay_err err = { "" };
    enum assay_status st = ASSAY_OK;

    if (c->seed_given == (c->seed_file != NULL))
        return assay__usage_error("cases", "make needs --seed N or --seed-file FILE");
    if (!assay__select_ops(&sel, "cases", c->op, NULL, 0))
        return ASSAY__EXIT_USAGE;
    if (sel.n != 1 && !c->out)
        return assay__usage_error("cases", "make prints the cases of one operator, --op OP; more "
                                           "go into a folder, --out DIR");
    if (c->seed_file)
        st = assay_hidden_seed_read(&secret, c->seed_file, false, &err);
    if (!st)
        st = put_ops(c, sel.ops, c->seed_file ? &secret : NULL, &err);
    assay_hidden_seed_wipe(&secret);
    return st ? assay__failure("cases", st, &err) : ASSAY__EXIT_PASSED;
}

/* ---- hidden ---------------------------------------------------------------------------------- */

/* What is published beforehand. */
static int put_commitment(const struct choice *c, const char *hash)
{
    struct assay_text t = { 0 };
    int n = 0;

    while (assay_ops()[n])
        n++;
    assay_text_add(&t,
                   c->json ? "{\"sha256\":\"%s\",\"count\":%d,\"operators\":%d,\"generator\":%d,"
                             "\"program\":\"assay %s\"}\n"
                           : "sha256     %s\n"
                             "count      %d hidden cases of each of %d operators\n"
                             "generator  %d, of assay %s\n",
                   hash, c->count, n, ASSAY_GENERATOR_VERSION, ASSAY_VERSION);
    return assay__print_text("cases", &t);
}

/* The cases, the text that was hashed, and the seed, which is none any more. */
static enum assay_status write_revealed(const struct choice *c,
                                        const struct assay_hidden_seed *seed,
                                        const struct assay_text *text, struct assay_err *err)
{
    static const char key[] = "\nseed ";
    const char *hex = strstr(text->data, key);
    char path[ASSAY_PATH_MAX + 64], line[HASH_DIGITS + 2];

    ASSAY_TRY(put_ops(c, assay_ops(), seed, err));
    snprintf(path, sizeof path, "%.4000s/hidden.txt", c->out);
    ASSAY_TRY(assay_file_write(path, text->data, text->len, err));
    if (!hex)
        return assay_fail(err, ASSAY_INTERNAL, "the hashed text has no seed");
    snprintf(line, sizeof line, "%.*s\n", (int)HASH_DIGITS, hex + sizeof key - 1);
    snprintf(path, sizeof path, "%.4000s/seed", c->out);
    return assay_file_write(path, line, strlen(line), err);
}

static int reveal(const struct choice *c, const struct assay_hidden_seed *seed,
                  const struct assay_text *text, const char *hash)
{
    struct assay_err err = { "" };
    enum assay_status st = ASSAY_OK;

    if (strcasecmp(hash, c->hash) != 0) {
        fprintf(stderr,
                "assay cases: this is not what was committed to: sha256 %s, not %s; another seed, "
                "another --count than %d, or another generator than version %d of assay %s\n",
                hash, c->hash, c->count, ASSAY_GENERATOR_VERSION, ASSAY_VERSION);
        return ASSAY__EXIT_FAILED;
    }
    if (c->out)
        st = write_revealed(c, seed, text, &err);
    if (st)
        return assay__failure("cases", st, &err);
    return put_commitment(c, hash);
}

static int hidden_of(const struct choice *c, const struct assay_hidden_seed *seed)
{
    struct assay_text text = { 0 };
    struct assay_err err = { "" };
    enum assay_status st = assay_hidden_text(&text, seed, c->count, &err);
    char hash[65];
    int code;

    if (st) {
        code = assay__failure("cases", st, &err);
    } else {
        SHA256Data((const uint8_t *)text.data, text.len, hash);
        code = c->reveal ? reveal(c, seed, &text, hash) : put_commitment(c, hash);
    }
    if (text.data)
        explicit_bzero(text.data, text.len);
    assay_text_release(&text);
    return code;
}

static bool is_hash(const char *s)
{
    return strlen(s) == HASH_DIGITS && strspn(s, "0123456789abcdefABCDEF") == HASH_DIGITS;
}

static int check_hidden(const struct choice *c)
{
    if (c->op)
        return assay__usage_error("cases", "hidden is about all operators, without --op");
    if (c->commit && c->reveal)
        return assay__usage_error("cases", "either --commit or --reveal");
    if (!c->commit && !c->reveal && !c->new_seed)
        return assay__usage_error("cases", "hidden needs --new-seed, --commit or --reveal");
    if (c->new_seed && (c->seed_file || c->reveal))
        return assay__usage_error("cases", "--new-seed goes alone or with --commit");
    if (!c->new_seed && !c->seed_file)
        return assay__usage_error("cases", "which seed? --seed-file FILE");
    if (c->reveal != (c->hash != NULL))
        return assay__usage_error("cases", "--reveal and --hash go together");
    if (c->hash && !is_hash(c->hash))
        return assay__usage_error("cases", "'%s' is no SHA-256: %d hexadecimal digits expected",
                                  c->hash, (int)HASH_DIGITS);
    if (c->out && !c->reveal)
        return assay__usage_error("cases", "--out goes with --reveal: before that nothing is "
                                           "written of hidden cases");
    return -1;
}

static int hidden(const struct choice *c)
{
    struct assay_hidden_seed seed;
    struct assay_err err = { "" };
    enum assay_status st = ASSAY_OK;
    int code = check_hidden(c);

    if (code >= 0)
        return code;
    if (c->new_seed)
        st = assay_hidden_seed_new(c->new_seed, &err);
    if (!st && c->new_seed && !c->commit)
        return ASSAY__EXIT_PASSED;
    /* who reveals a seed has made it public */
    if (!st)
        st = assay_hidden_seed_read(&seed, c->new_seed ? c->new_seed : c->seed_file, c->reveal,
                                    &err);
    if (st)
        return assay__failure("cases", st, &err);
    code = hidden_of(c, &seed);
    assay_hidden_seed_wipe(&seed);
    return code;
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct assay__usage usage = {
    .command = "cases",
    .args = "check|make|hidden",
    .min_args = 1,
    .max_args = 1,
    .about =
        "check proves the coverage rules on the public cases. make draws cases from a seed and\n"
        "prints them as data/cases/OP.json holds them. hidden commits to the cases of a secret\n"
        "seed by a hash that is published before a run, and reveals them after it: anyone who\n"
        "has seed and hash can check that the cases were fixed beforehand.\n"
        "A seed file holds 64 hexadecimal digits. One that others may read is refused until the\n"
        "seed is revealed.",
    .exits = "0 done, 1 a rule is broken, or the seed is not the one committed to,\n"
             "2 wrong usage, 3 our own fault",
    .example = "assay cases check\n"
               "assay cases make --op exp --seed 1 >exp.json\n"
               "assay cases hidden --new-seed seed --commit\n"
               "assay cases hidden --reveal --seed-file seed --hash HASH --out revealed",
};

static const struct {
    const char *word;
    int (*run)(const struct choice *c);
    int count;
} actions[] = { { "check", check, 0 },
                { "make", make, PUBLIC_COUNT },
                { "hidden", hidden, ASSAY_HIDDEN_COUNT } };

/* Options that an action does not have; an exit status, or -1. */
static int check_choice(const struct choice *c, const char *word)
{
    bool is_check = !strcmp(word, "check"), is_hidden = !strcmp(word, "hidden");

    if (!is_hidden && (c->new_seed || c->commit || c->reveal || c->hash))
        return assay__usage_error(
            "cases", "--new-seed, --commit, --reveal and --hash go with `assay cases hidden`");
    if (is_check ? c->seed_file || c->count_given || c->out : c->from != NULL)
        return assay__usage_error("cases", is_check ? "check takes --op, --from and --json"
                                                    : "--from goes with `assay cases check`");
    if (strcmp(word, "make") != 0 && c->seed_given)
        return assay__usage_error("cases", "--seed goes with `assay cases make`: 64 bits can be "
                                           "guessed");
    if (c->from && !assay__is_dir(c->from))
        return assay__usage_error("cases", "no folder '%s'", c->from);
    return -1;
}

static int run(int argc, char **argv)
{
    struct choice c = { 0 };
    const struct assay__opt opts[] = {
        { "op", 0, ASSAY__OPT_STRING, &c.op, "A,B", .help = "only these operators" },
        { "from", 0, ASSAY__OPT_STRING, &c.from, "DIR",
          .help = "check DIR/OP.json instead of the public cases" },
        { "seed", 's', ASSAY__OPT_U64, &c.seed, "N", .help = "seed of the cases to make",
          .given = &c.seed_given },
        { "seed-file", 0, ASSAY__OPT_STRING, &c.seed_file, "FILE",
          .help = "the secret seed of hidden cases" },
        { "new-seed", 0, ASSAY__OPT_STRING, &c.new_seed, "FILE",
          .help = "draw a secret seed into a new file that only you can read" },
        { "count", 0, ASSAY__OPT_INT, &c.count, "N",
          .help = "cases of each operator; default: 20 to make, 80 hidden", .given = &c.count_given,
          .min = ASSAY_HIDDEN_MIN, .max = ASSAY_HIDDEN_MAX },
        { "commit", 0, ASSAY__OPT_FLAG, &c.commit, NULL, .help = "print the hash to publish" },
        { "reveal", 0, ASSAY__OPT_FLAG, &c.reveal, NULL,
          .help = "check the seed against the hash, and write the cases" },
        { "hash", 0, ASSAY__OPT_STRING, &c.hash, "HASH", .help = "what was published" },
        { "out", 0, ASSAY__OPT_STRING, &c.out, "DIR",
          .help = "write DIR/OP.json; of revealed cases DIR/seed, and\n"
                  "DIR/hidden.txt with the bytes that were hashed, too" },
        { "json", 0, ASSAY__OPT_FLAG, &c.json, NULL, .help = "as JSON" },
        { 0 },
    };
    struct assay__args args;
    int code = assay__begin(&args, &usage, opts, argc, argv);

    for (size_t i = 0; code < 0 && i < sizeof actions / sizeof *actions; i++)
        if (!strcmp(args.v[0], actions[i].word)) {
            c.count = c.count_given ? c.count : actions[i].count;
            code = check_choice(&c, actions[i].word);
            return code >= 0 ? code : actions[i].run(&c);
        }
    return code >= 0 ? code
                     : assay__usage_error("cases",
                                          "'%s' is nothing to do with cases; check, make "
                                          "or hidden expected",
                                          args.v[0]);
}

const struct assay__command assay__cmd_cases = { "cases", "check, make, hide and reveal cases",
                                                 run };
