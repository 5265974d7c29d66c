/* SPDX-License-Identifier: Apache-2.0 */
/* test_ops_moe.c: what brings rows to experts and back: moe_re_routing, moe_finalize_routing.
 * Values are worked out by hand. */
#include "op_inputs.h"

#include "ops/routing.h"

/* ---- loads ----------------------------------------------------------------------------------- */

static void loads_add_up(void **state)
{
    static const int64_t experts[] = { 1, 2, 3, 5, 8, 60, 64, 257 };

    (void)state;
    for (int i = 0; i < 8; i++)
        for (int64_t k = 1; k <= experts[i] && k <= 8; k++)
            for (int64_t tokens = 0; tokens < 300; tokens += 1 + tokens / 3) {
                int64_t n = tokens * k, sum = 0, last = 0;

                for (int64_t e = 0; e < experts[i]; e++) {
                    last = assay__expert_load(n, experts[i], tokens, e);
                    assert_true(last >= 0 && last <= tokens);
                    sum += last;
                }
                assert_int_equal(sum, n);
                assert_true(last * experts[i] >= n); /* the last one has no less than the mean */
            }
    /* by hand: mean 2, room for half as much again, skew 1/6: 5/6 2 + 1/6 4/16 = 1.7 below 1 */
    assert_int_equal(assay__expert_load(4, 2, 4, 0), 1);
    assert_int_equal(assay__expert_load(4, 2, 4, 1), 3);
    /* as skewed as it gets: 100 (7/8)^4 = 58.6 below 7, of 8 */
    assert_int_equal(assay__expert_load(100, 8, 100, 7), 42);
}

/* ---- moe_re_routing -------------------------------------------------------------------------- */

static const double counts[] = { 1, 2, 1, 2, 1, 3 }; /* [2,3], 10 in all */
static const double sources[] = { 0, 4, 5, 1, 2, 6, 3, 7, 8, 9 };

static void re_routing_by_hand(void **state)
{
    static const enum assay_dtype dtypes[] = { ASSAY_F16, ASSAY_BF16, ASSAY_I8 };

    (void)state;
    for (int d = 0; d < 3; d++)
        for (int wide = 0; wide < 2; wide++) {
            struct call *k = begin("moe_re_routing");
            double y[20];

            in2(k, 0, dtypes[d], 10, 2, NULL); /* token i is 2i, 2i+1 */
            in2(k, 1, wide ? ASSAY_I64 : ASSAY_I32, 2, 3, counts);
            if (wide)
                in(k, 2, ASSAY_F32, 10, NULL);
            for (int i = 0; i < 20; i++)
                y[i] = 2 * sources[i / 2] + i % 2;
            for (int native = 0; native < 2; native++) {
                run(k, native);
                expect(k, 0, y, 20);
                expect(k, 1, wide ? sources : (const double[10]){ 0 }, 10);
                expect(k, 2, sources, 10);
                expect(k, 3, (const double[]){ 3, 3, 4 }, 3);
                assert_int_equal(k->want[3].t[0].dtype, ASSAY_I64);
                assert_int_equal(k->want[2].t[0].dtype, ASSAY_I32);
            }
            end(k);
        }
}

static void re_routing_one_rank_or_expert(void **state)
{
    struct call *k;

    (void)state;
    for (int experts = 0; experts < 2; experts++) { /* nothing moves */
        k = begin("moe_re_routing");
        in2(k, 0, ASSAY_I8, 7, 1, NULL);
        in2(k, 1, ASSAY_I32, experts ? 1 : 3, experts ? 3 : 1, (const double[]){ 4, 1, 2 });
        run(k, false);
        expect(k, 2, (const double[]){ 0, 1, 2, 3, 4, 5, 6 }, 7);
        expect(k, 3, experts ? (const double[]){ 4, 1, 2 } : (const double[]){ 7 },
               experts ? 3 : 1);
        end(k);
    }
    k = begin("moe_re_routing"); /* tokens of no elements still move */
    in2(k, 0, ASSAY_F16, 4, 0, NULL);
    in2(k, 1, ASSAY_I32, 2, 2, (const double[]){ 1, 1, 1, 1 });
    run(k, false);
    expect(k, 2, (const double[]){ 0, 2, 1, 3 }, 4);
    end(k);
    k = begin("moe_re_routing"); /* nothing at all, for two experts */
    in2(k, 0, ASSAY_F16, 0, 3, NULL);
    in2(k, 1, ASSAY_I64, 0, 2, NULL);
    run(k, false);
    expect(k, 3, (const double[]){ 0, 0 }, 2);
    end(k);
}

static void re_routing_keeps_values(void **state)
{
    struct call *k = begin("moe_re_routing");

    (void)state;
    in2(k, 0, ASSAY_F16, 4, 1, (const double[]){ NAN, -0.0, 0x1p-24, -INFINITY });
    in2(k, 1, ASSAY_I32, 2, 2, (const double[]){ 1, 1, 1, 1 });
    in(k, 2, ASSAY_F32, 4, (const double[]){ -0.0, INFINITY, NAN, 0x1p-149 });
    run(k, false);
    assert_true(isnan(result(k, 0)) && result(k, 1) == 0x1p-24);
    assert_true(signbit(result(k, 2)) && result(k, 3) == -INFINITY);
    assert_true(signbit(result_of(k, 1, 0)) && isnan(result_of(k, 1, 1)));
    assert_true(result_of(k, 1, 2) == INFINITY && result_of(k, 1, 3) == 0x1p-149);
    end(k);
    k = begin("moe_re_routing");
    in2(k, 0, ASSAY_I8, 2, 1, (const double[]){ -128, 127 });
    in2(k, 1, ASSAY_I32, 1, 1, (const double[]){ 2 });
    run(k, true);
    expect(k, 0, (const double[]){ -128, 127 }, 2);
    end(k);
}

static struct call *routed(int64_t tokens, int64_t ranks, int64_t experts, const double *v)
{
    struct call *k = begin("moe_re_routing");

    in2(k, 0, ASSAY_F16, tokens, 2, NULL);
    in2(k, 1, ASSAY_I64, ranks, experts, v);
    return k;
}

static void re_routing_refuses(void **state)
{
    struct call *k;

    (void)state;
    refused(routed(11, 2, 3, counts),
            "expert_token_num_per_rank adds up to 10, but there are 11 tokens");
    refused(routed(9, 2, 3, counts), "expert_token_num_per_rank[1,2] is 3, allowed are 1 to 2");
    refused(routed(10, 2, 3, (const double[]){ 1, 2, 1, 2, 0, 4 }),
            "expert_token_num_per_rank[1,1] is 0, allowed are 1 to 4");
    refused(routed(10, 2, 3, (const double[]){ 1, -0x1p63, 1, 2, 0, 4 }),
            "expert_token_num_per_rank[0,1] is -9223372036854775808");
    refused(routed(5, 2, 3, counts),
            "expert_token_num_per_rank int64 [2,3], each 1 or more, for tokens float16 [5,2]");
    refused(routed(1, 0, 3, NULL), "adds up to 0, but there are 1 tokens");
    k = begin("moe_re_routing");
    in3(k, 0, ASSAY_F16, 1, 2, 3, NULL);
    in2(k, 1, ASSAY_I32, 1, 1, NULL);
    refused(k, "tokens float16 [1,2,3] are not [a, h]");
    k = begin("moe_re_routing");
    in2(k, 0, ASSAY_F16, 2, 3, NULL);
    in(k, 1, ASSAY_I32, 1, NULL);
    refused(k, "expert_token_num_per_rank int32 [1] is not [n, e]");
    k = routed(10, 2, 3, counts);
    in(k, 2, ASSAY_F32, 9, NULL);
    refused(k, "per_token_scales float32 [9] are not one for each of tokens float16 [10,2]");
    k = routed(10, 2, 3, counts);
    attr(k, "expert_token_num_type")->i = 0;
    refused(k, "expert_token_num_type is 0, only 1 (counts) is supported");
    k = routed(10, 2, 3, counts);
    attr(k, "idx_type")->i = 1;
    refused(k, "idx_type is 1, only 0 (gather) is supported");
}

/* Counts as they are drawn: skewed, some at their least; and the order is one of experts, then of
 * ranks, then as it was. */
static void re_routing_sorts_by_expert(void **state)
{
    enum { A = 5003, N = 7, E = 13 };
    struct call *k = begin("moe_re_routing");
    int64_t of[A], load[E] = { 0 }, most = 0, at = 0, last = -1;
    const struct assay_tensor *c, *idx;
    bool seen[A] = { false };

    (void)state;
    in2(k, 0, ASSAY_I8, A, 3, NULL);
    in2(k, 1, ASSAY_I32, N, E, NULL);
    for (int i = 0; i < N * E; i++) /* any that will do */
        assay_store_int(&k->data[1].t[0], i, i < N * E - 1 ? 1 : A - N * E + 1);
    range(k, 0, -100, 100);
    range(k, 1, 1, A);
    make_inputs(k, 2);
    golden_again(k);
    c = &k->args.in[1].t[0];
    idx = &k->want[2].t[0];
    for (int i = 0; i < N * E; i++) {
        load[i % E] += assay_load_int(c, i);
        for (int64_t j = 0; j < assay_load_int(c, i); j++)
            of[at++] = i % E * N + i / E; /* the order that is wanted */
    }
    assert_int_equal(at, A);
    for (int e = 0; e < E; e++) {
        most = load[e] > most ? load[e] : most;
        assert_int_equal(assay_load_int(&k->want[3].t[0], e), load[e]);
    }
    assert_true(most * E > 2 * A);
    for (int64_t i = 0; i < A; i++) {
        int64_t from = assay_load_int(idx, i);

        assert_true(from >= 0 && from < A && !seen[from]);
        seen[from] = true;
        assert_true(last < 0 || of[from] > of[last] || (of[from] == of[last] && from > last));
        last = from;
        for (int h = 0; h < 3; h++)
            assert_true(result(k, i * 3 + h) == assay_load(&k->args.in[0].t[0], from * 3 + h));
    }
    end(k);
}

/* ---- moe_finalize_routing -------------------------------------------------------------------- */

enum { ROWS, SRC, SKIP1, SKIP2, BIAS, SCALES, EXPERTS };

static const double rows[] = { 1, 2, 3, 4, 5, 6, 7, 8 };

/* Two tokens, two choices each, two columns, all inputs. */
static struct call *finalized(enum assay_dtype d, int mode, const double *src)
{
    struct call *k = begin("moe_finalize_routing");

    if (mode % 2)
        in3(k, ROWS, d, 2, 2, 2, rows);
    else
        in2(k, ROWS, d, 4, 2, rows);
    in(k, SRC, ASSAY_I32, 4, src);
    in2(k, SKIP1, d, 2, 2, (const double[]){ 10, 20, 30, 40 });
    in2(k, SKIP2, d, 2, 2, (const double[]){ 96, 200, 300, 400 });
    in2(k, BIAS, d, 2, 2, (const double[]){ 0, 0, 1000, 2000 });
    in2(k, SCALES, d, 2, 2, (const double[]){ 0.5, 2, 1, -1 });
    in2(k, EXPERTS, ASSAY_I32, 2, 2, (const double[]){ 0, 1, 1, 0 });
    attr(k, "drop_pad_mode")->i = mode;
    return k;
}

static void finalize_by_hand(void **state)
{
    static const double all[] = { 2, 0, 1, 3 }, some[] = { -1, 0, 1, -1 };
    /* mode 0: 106 + 5/2 + 2 1003, 220 + 6/2 + 2 2004, 330 + 1001 - 7, 440 + 2002 - 8; and so on */
    static const double want[4][4] = {
        { 2114.5, 4231, 1324, 2434 },
        { 2112, 4228, 1331, 2442 },
        { 2110.5, 4227, 1326, 2436 },
        { 2108, 4224, 1333, 2444 },
    };

    (void)state;
    for (int mode = 0; mode < 4; mode++) {
        struct call *k = finalized(ASSAY_F32, mode, mode % 2 ? some : all);

        for (int native = 0; native < 2; native++) {
            run(k, native);
            expect(k, 0, want[mode], 4);
        }
        end(k);
        k = finalized(ASSAY_F16, mode, mode % 2 ? some : all);
        run(k, false);
        expect(k, 0, want[mode], 4);
        end(k);
    }
}

/* Without weights there is one choice each, in full; and nothing else has to be there. */
static void finalize_less(void **state)
{
    struct call *k = begin("moe_finalize_routing");

    (void)state;
    in2(k, ROWS, ASSAY_BF16, 3, 2, rows);
    in(k, SRC, ASSAY_I32, 3, (const double[]){ 2, 0, 1 });
    run(k, false);
    expect(k, 0, (const double[]){ 5, 6, 1, 2, 3, 4 }, 6);
    end(k);
    k = begin("moe_finalize_routing");
    in2(k, ROWS, ASSAY_F32, 3, 2, rows);
    in(k, SRC, ASSAY_I32, 3, (const double[]){ 2, 0, 1 });
    in2(k, SKIP1, ASSAY_F32, 3, 2, (const double[]){ 10, 10, 20, 20, 30, 30 });
    in2(k, BIAS, ASSAY_F32, 2, 2, (const double[]){ 100, 200, 300, 400 });
    in2(k, EXPERTS, ASSAY_I32, 3, 1, (const double[]){ 1, 1, 0 });
    run(k, false);
    expect(k, 0, (const double[]){ 315, 416, 321, 422, 133, 234 }, 6);
    end(k);
    k = begin("moe_finalize_routing"); /* weights of bfloat16 rows may be of more bits */
    in2(k, ROWS, ASSAY_BF16, 2, 1, (const double[]){ 0x1p12, 1 });
    in(k, SRC, ASSAY_I32, 2, (const double[]){ 0, 1 });
    in2(k, SCALES, ASSAY_F32, 1, 2, (const double[]){ 1 + 0x1p-12, 0 });
    run(k, false);
    assert_true(result(k, 0) == 4097);
    run(k, true);
    assert_true(result(k, 0) == 4096); /* eight bits */
    end(k);
    k = begin("moe_finalize_routing"); /* experts may be given without biases */
    in2(k, ROWS, ASSAY_F32, 1, 1, rows);
    in(k, SRC, ASSAY_I32, 1, (const double[]){ 0 });
    in2(k, EXPERTS, ASSAY_I32, 1, 1, (const double[]){ 1000 });
    run(k, false);
    expect(k, 0, (const double[]){ 1 }, 1);
    end(k);
}

static void finalize_special_values(void **state)
{
    struct call *k = begin("moe_finalize_routing");

    (void)state;
    in3(k, ROWS, ASSAY_F32, 1, 3, 1, (const double[]){ INFINITY, -INFINITY, NAN });
    in(k, SRC, ASSAY_I32, 8, (const double[]){ -1, -1, 0, -1, 0, 1, 2, -1 }); /* token by token */
    in2(k, SCALES, ASSAY_F32, 4, 2, (const double[]){ 1, 1, 0, 1, 2, 2, 1, NAN });
    attr(k, "drop_pad_mode")->i = 3;
    run(k, false);
    assert_true(result(k, 0) == 0 && !signbit(result(k, 0))); /* all dropped */
    assert_true(isnan(result(k, 1)));                         /* 0 Inf */
    assert_true(isnan(result(k, 2)));                         /* Inf - Inf */
    assert_true(isnan(result(k, 3)));
    end(k);
    k = begin("moe_finalize_routing"); /* what was dropped is not looked at, and has no bias */
    in3(k, ROWS, ASSAY_F16, 1, 1, 1, (const double[]){ NAN });
    in(k, SRC, ASSAY_I32, 1, (const double[]){ -1 });
    in2(k, BIAS, ASSAY_F16, 1, 1, (const double[]){ INFINITY });
    in2(k, EXPERTS, ASSAY_I32, 1, 1, (const double[]){ 0 });
    attr(k, "drop_pad_mode")->i = 1;
    run(k, false);
    assert_true(result(k, 0) == 0);
    end(k);
    k = finalized(ASSAY_F16, 0, (const double[]){ 0, 1, 2, 3 });
    assay_store(&k->data[SCALES].t[0], 1, 60000); /* 60000 1005 is too large */
    run(k, false);
    assert_true(result(k, 0) == 106 + 0.5 * 1 + 60000 * 1005.0);
    run(k, true);
    assert_true(result(k, 0) == INFINITY);
    end(k);
}

static void finalize_rounds(void **state)
{
    struct call *k;

    (void)state;
    for (int half = 0; half < 2; half++) {
        k = begin("moe_finalize_routing");
        in2(k, ROWS, half ? ASSAY_F16 : ASSAY_F32, 2, 1, (const double[]){ 1, 1 });
        in(k, SRC, ASSAY_I32, 2, (const double[]){ 0, 1 });
        in2(k, SKIP1, half ? ASSAY_F16 : ASSAY_F32, 1, 1, (const double[]){ half ? 2048 : 0x1p24 });
        in2(k, SCALES, half ? ASSAY_F16 : ASSAY_F32, 1, 2, (const double[]){ 1, 1 });
        run(k, false);
        assert_true(result(k, 0) == (half ? 2050 : 0x1p24 + 2));
        run(k, true); /* fp32 inside: halves are rounded once, singles after each sum */
        assert_true(result(k, 0) == (half ? 2050 : 0x1p24));
        end(k);
    }
}

static void finalize_nothing(void **state)
{
    struct call *k = begin("moe_finalize_routing");

    (void)state;
    in2(k, ROWS, ASSAY_F32, 0, 3, NULL);
    in(k, SRC, ASSAY_I32, 0, NULL);
    run(k, false);
    assert_int_equal(assay_numel(&k->want[0].t[0]), 0);
    end(k);
    k = begin("moe_finalize_routing"); /* no choices: what there is besides them */
    in2(k, ROWS, ASSAY_F32, 0, 2, NULL);
    in(k, SRC, ASSAY_I32, 0, NULL);
    in2(k, SKIP1, ASSAY_F32, 2, 2, rows);
    in2(k, SCALES, ASSAY_F32, 2, 0, NULL);
    run(k, false);
    expect(k, 0, rows, 4);
    end(k);
}

static struct call *without(int missing)
{
    struct call *k = finalized(ASSAY_F32, 0, (const double[]){ 0, 1, 2, 3 });

    k->c.in[missing].n = 0;
    return k;
}

static void finalize_refuses_shapes(void **state)
{
    struct call *k;

    (void)state;
    refused(without(SKIP1), "skip2 is there, but not skip1");
    refused(without(EXPERTS), "bias is there, but not expert_for_source_row");
    refused(without(SCALES), "skip1 is float32 [2,2], it should be [4,2]");
    k = finalized(ASSAY_F32, 0, (const double[]){ 0, 1, 2, 3 });
    attr(k, "drop_pad_mode")->i = 1;
    refused(k, "expanded_permuted_rows float32 [4,2], drop_pad_mode 1 takes rank 3");
    k = finalized(ASSAY_F32, 0, (const double[]){ 0, 1, 2, 3 });
    attr(k, "drop_pad_mode")->i = 4;
    refused(k, "drop_pad_mode is 4, allowed are 0 to 3");
    k = begin("moe_finalize_routing");
    in2(k, ROWS, ASSAY_F32, 3, 1, NULL);
    in(k, SRC, ASSAY_I32, 4, NULL);
    refused(k, "3 expanded_permuted_rows for 4 indices");
    k = begin("moe_finalize_routing");
    in2(k, ROWS, ASSAY_F32, 4, 1, NULL);
    in(k, SRC, ASSAY_I32, 4, NULL);
    in2(k, SCALES, ASSAY_F32, 2, 3, NULL);
    refused(k, "4 indices in expanded_src_to_dst_row for scales of 2 tokens with 3 experts each");
    k = begin("moe_finalize_routing");
    in2(k, ROWS, ASSAY_F16, 1, 1, NULL);
    in(k, SRC, ASSAY_I32, 1, NULL);
    in2(k, SCALES, ASSAY_F32, 1, 1, NULL);
    refused(k, "scales is float32, expanded_permuted_rows are float16");
    k = begin("moe_finalize_routing");
    in3(k, ROWS, ASSAY_F32, 2, 1, 1, NULL);
    in(k, SRC, ASSAY_I32, 1, NULL);
    in2(k, BIAS, ASSAY_F32, 3, 1, NULL);
    in2(k, EXPERTS, ASSAY_I32, 1, 1, NULL);
    attr(k, "drop_pad_mode")->i = 1;
    refused(k, "bias is float32 [3,1], it should be [2,1]");
}

static void finalize_refuses_values(void **state)
{
    struct call *k;

    (void)state;
    refused(finalized(ASSAY_F32, 0, (const double[]){ 0, 1, 2, -1 }),
            "expanded_src_to_dst_row[3] is -1, outside of 0 to 3");
    refused(finalized(ASSAY_F32, 2, (const double[]){ 0, 4, 2, 1 }),
            "expanded_src_to_dst_row[1] is 4, outside of 0 to 3");
    refused(finalized(ASSAY_F32, 1, (const double[]){ -1, 4, 2, 1 }),
            "expanded_src_to_dst_row[1] is 4, outside of -1 to 3");
    refused(finalized(ASSAY_F32, 3, (const double[]){ -2, 3, 2, 1 }),
            "expanded_src_to_dst_row[0] is -2, outside of -1 to 3");
    refused(finalized(ASSAY_F32, 1, (const double[]){ 0, 3, (double)INT32_MIN, 1 }),
            "expanded_src_to_dst_row[2] is -2147483648, outside of -1 to 3");
    k = finalized(ASSAY_F32, 0, (const double[]){ 0, 1, 2, 3 });
    assay_store_int(&k->data[EXPERTS].t[0], 2, 2);
    refused(k, "expert_for_source_row[1,0] is 2, outside of 0 to 1");
    k = without(BIAS);
    assay_store_int(&k->data[EXPERTS].t[0], 1, -1);
    refused(k, "expert_for_source_row[0,1] is -1, outside of 0 to");
}

/* Routing as it is drawn: no expert twice for a token; each row once; by expert, then in order. */
static void finalize_draws_routing(void **state)
{
    enum { N = 203, K = 4, E = 11, C = 70 };

    (void)state;
    for (int mode = 0; mode < 4; mode++) {
        struct call *k = begin("moe_finalize_routing");
        int64_t next[E] = { 0 }, load[E] = { 0 }, used = 0, dropped = 0;
        double one[N * K] = { 0 };
        const struct assay_tensor *src, *experts;

        for (int e = 0; e < E; e++)
            load[e] = assay__expert_load(N * K, E, N, e);
        if (mode % 2)
            in3(k, ROWS, ASSAY_F32, E, C, 1, NULL);
        else
            in2(k, ROWS, ASSAY_F32, N * K, 1, NULL);
        in(k, SRC, ASSAY_I32, N * K, one);
        in2(k, BIAS, ASSAY_F32, E, 1, NULL);
        in2(k, SCALES, ASSAY_F32, N, K, one);
        in2(k, EXPERTS, ASSAY_I32, N, K, one);
        range(k, ROWS, -1, 1);
        range(k, SRC, -1, N * K - 1);
        range(k, BIAS, -1, 1);
        range(k, SCALES, 0, 1);
        range(k, EXPERTS, 0, E - 1);
        attr(k, "drop_pad_mode")->i = mode;
        make_inputs(k, 1);
        src = &k->args.in[SRC].t[0];
        experts = &k->args.in[EXPERTS].t[0];
        for (int e = 1; e < E; e++)
            next[e] = mode % 2 ? e * C : next[e - 1] + load[e - 1];
        for (int64_t s = 0; s < N * K; s++) {
            int64_t at = mode < 2 ? s % N * K + s / N : s;
            int64_t e = assay_load_int(experts, at), row = assay_load_int(src, s);

            for (int64_t j = at / K * K; j < at; j++)
                assert_true(assay_load_int(experts, j) != e);
            if (mode % 2 && next[e] == (e + 1) * C) {
                assert_int_equal(row, -1);
                dropped++;
            } else {
                assert_int_equal(row, next[e]++);
                used++;
            }
        }
        assert_true(mode % 2 ? dropped > 0 && used < E * C : used == N * K);
        if (mode % 2) /* the work model knows how many rows are looked at */
            assert_true(assay_op_work(k->c.op, &k->args).bytes_in ==
                        4 * (double)(used + E + 3 * N * K));
        end(k);
    }
}

/* ---- threads, work --------------------------------------------------------------------------- */

static void threads_do_not_matter(void **state)
{
    struct call *k = begin("moe_re_routing");
    double zero[4099] = { 0 };

    (void)state;
    in2(k, 0, ASSAY_F16, 4099, 67, NULL);
    in2(k, 1, ASSAY_I32, 5, 7, NULL);
    for (int i = 0; i < 35; i++)
        assay_store_int(&k->data[1].t[0], i, i < 34 ? 1 : 4099 - 34);
    in(k, 2, ASSAY_F32, 4099, NULL);
    range(k, 0, -2, 2);
    range(k, 1, 1, 100);
    range(k, 2, 0, 1);
    same_bits(k);

    k = begin("moe_finalize_routing");
    in3(k, ROWS, ASSAY_BF16, 13, 250, 67, NULL);
    in(k, SRC, ASSAY_I32, 1033 * 3, zero);
    in2(k, SKIP1, ASSAY_BF16, 1033, 67, NULL);
    in2(k, BIAS, ASSAY_BF16, 13, 67, NULL);
    in2(k, SCALES, ASSAY_F32, 1033, 3, zero);
    in2(k, EXPERTS, ASSAY_I32, 1033, 3, zero);
    attr(k, "drop_pad_mode")->i = 1;
    range(k, ROWS, -INFINITY, INFINITY);
    range(k, SRC, -1, 13 * 250 - 1);
    range(k, SKIP1, -1, 1);
    range(k, BIAS, -1, 1);
    range(k, SCALES, 0, 1);
    range(k, EXPERTS, 0, 12);
    same_bits(k);
}

static void work_is_what_cannot_be_avoided(void **state)
{
    struct call *k = begin("moe_finalize_routing");
    struct assay_work w;

    (void)state;
    in3(k, ROWS, ASSAY_F32, 2, 2, 5, NULL); /* loads 1 and 3: one row is left over, one dropped */
    in(k, SRC, ASSAY_I32, 4, NULL);
    attr(k, "drop_pad_mode")->i = 1;
    assert_int_equal(make(k), ASSAY_OK);
    w = assay_op_work(k->c.op, &k->args);
    assert_true(w.bytes_in == 3 * 5 * 4 + 4 * 4 && w.bytes_out == 4 * 5 * 4);
    assert_true(fabs(w.amount[ASSAY_UNIT_ALU] - 15) < 1e-9);
    end(k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_add_up),
        cmocka_unit_test(re_routing_by_hand),
        cmocka_unit_test(re_routing_one_rank_or_expert),
        cmocka_unit_test(re_routing_keeps_values),
        cmocka_unit_test(re_routing_refuses),
        cmocka_unit_test(re_routing_sorts_by_expert),
        cmocka_unit_test(finalize_by_hand),
        cmocka_unit_test(finalize_less),
        cmocka_unit_test(finalize_special_values),
        cmocka_unit_test(finalize_rounds),
        cmocka_unit_test(finalize_nothing),
        cmocka_unit_test(finalize_refuses_shapes),
        cmocka_unit_test(finalize_refuses_values),
        cmocka_unit_test(finalize_draws_routing),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(work_is_what_cannot_be_avoided),
    };

    return cmocka_run_group_tests_name("ops_moe", tests, NULL, NULL);
}
