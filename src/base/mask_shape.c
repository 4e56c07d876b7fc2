/* Knows tokens by their shape: the prefixes that vendors give them, and a few forms without one. */
#include "base/attr.h"
#include "base/mask_parts.h"

#include <ctype.h>

/* Sorted by prefix. At least `body` characters follow the prefix: letters, digits and those of
 * `extra`. `run` of them, or 16, are letters and digits without a break, mixed as chance mixes. */
static const struct shape {
    char prefix[17];
    char extra[6];
    uint8_t body, run;
} shapes[] = {
    { "AGE-SECRET-KEY-1", "", 40, 0 },
    { "AIza", "-_", 30, 8 },
    { "AKCp", "", 60, 0 },
    { "ATATT3", "-_=", 40, 8 },
    { "ATBB", "", 28, 0 },
    { "ATCTT3", "-_=", 40, 8 },
    { "CCIPAT_", "_", 30, 0 },
    { "EAAA", "-_", 40, 0 },
    { "GOCSPX-", "-_", 20, 8 },
    { "GR1348941", "-_", 18, 8 },
    { "HRKU-", "-_", 30, 8 },
    { "KGAT_", "", 28, 0 },
    { "MII", "+/=", 60, 8 }, /* keys in DER, as base64 */
    { "NRAK-", "", 24, 0 },
    { "PMAK-", "-", 40, 0 },
    { "SG.", "-_.", 40, 8 },
    { "dapi", "-", 32, 0 },
    { "dckr_oat_", "-_", 20, 8 },
    { "dckr_pat_", "-_", 20, 8 },
    { "doo_v1_", "", 40, 0 },
    { "dop_v1_", "", 40, 0 },
    { "dor_v1_", "", 40, 0 },
    { "dp.ct.", "", 30, 0 },
    { "dp.pt.", "", 30, 0 },
    { "dp.st.", "._-", 30, 0 },
    { "dt0c01.", ".", 60, 0 },
    { "e2b_", "", 30, 0 },
    { "esecret_", "", 20, 0 },
    { "eyJ", "-_.=", 20, 0 }, /* JSON as base64: web tokens */
    { "figd_", "-_", 30, 8 },
    { "fm2_", "+/=", 60, 8 },
    { "fw_", "", 20, 0 },
    { "gho_", "", 20, 0 },
    { "ghp_", "", 20, 0 },
    { "ghr_", "", 20, 0 },
    { "ghs_", "", 20, 0 },
    { "ghu_", "", 20, 0 },
    { "github_pat_", "_", 20, 0 },
    { "glagent-", "-_", 20, 6 },
    { "glc_", "+/=", 32, 8 },
    { "glcbt-", "-_", 20, 6 },
    { "gldt-", "-_", 20, 6 },
    { "glft-", "-_", 20, 6 },
    { "glimt-", "-_", 20, 6 },
    { "gloas-", "-_", 20, 6 },
    { "glpat-", "-_.", 20, 6 },
    { "glptt-", "-_", 20, 6 },
    { "glrt-", "-_.", 20, 6 },
    { "glsa_", "_", 32, 0 },
    { "glsoat-", "-_", 20, 6 },
    { "gsk_", "", 20, 0 },
    { "hf_", "", 20, 0 },
    { "hvb.", "-_", 20, 8 },
    { "hvr.", "-_", 20, 8 },
    { "hvs.", "-_", 20, 8 },
    { "jina_", "-_", 40, 0 },
    { "key-", "", 32, 0 },
    { "lin_api_", "", 30, 0 },
    { "lsv2_pt_", "_", 40, 8 },
    { "lsv2_sk_", "_", 40, 8 },
    { "npm_", "", 30, 0 },
    { "ntn_", "", 40, 0 },
    { "nvapi-", "-_", 20, 8 },
    { "ops_eyJ", "-_", 60, 0 },
    { "oy2", "", 43, 0 },
    { "pcsk_", "_", 40, 0 },
    { "phx_", "", 40, 0 },
    { "pplx-", "", 40, 0 },
    { "pscale_pw_", "-_.", 32, 8 },
    { "pscale_tkn_", "-_.", 32, 8 },
    { "pul-", "", 40, 0 },
    { "pypi-", "-_", 30, 8 },
    { "r8_", "", 30, 0 },
    { "rk_live_", "", 16, 0 },
    { "rk_test_", "", 16, 0 },
    { "rnd_", "", 24, 0 },
    { "rubygems_", "", 40, 0 },
    { "sb_secret_", "-_", 20, 8 },
    { "sbp_", "", 40, 0 },
    { "secret_", "", 40, 0 },
    { "shpat_", "", 32, 0 },
    { "shpca_", "", 32, 0 },
    { "shppa_", "", 32, 0 },
    { "shpss_", "", 32, 0 },
    { "sk-", "-_", 20, 0 },
    { "sk_", "_", 40, 0 },
    { "sk_live_", "", 16, 0 },
    { "sk_test_", "", 16, 0 },
    { "sntrys_", "_+/=", 30, 0 },
    { "sntryu_", "", 30, 0 },
    { "sq0atp-", "-_", 20, 8 },
    { "sq0csp-", "-_", 40, 8 },
    { "sqa_", "", 40, 0 },
    { "sqp_", "", 40, 0 },
    { "squ_", "", 40, 0 },
    { "tgp_v1_", "-_", 40, 8 },
    { "tskey-", "-", 20, 8 },
    { "tvly-", "-", 20, 8 },
    { "wandb_v1_", "_-", 30, 0 },
    { "whsec_", "+/=", 24, 8 },
    { "xai-", "", 40, 0 },
    { "xapp-", "-", 10, 6 },
    { "xoxa-", "-", 10, 6 },
    { "xoxb-", "-", 10, 6 },
    { "xoxc-", "-", 10, 6 },
    { "xoxd-", "-%", 10, 6 },
    { "xoxe-", "-", 10, 6 },
    { "xoxe.xox", "-.", 10, 6 },
    { "xoxo-", "-", 10, 6 },
    { "xoxp-", "-", 10, 6 },
    { "xoxr-", "-", 10, 6 },
    { "xoxs-", "-", 10, 6 },
    { "ya29.", "-_.", 20, 8 },
};

#define RUN_MIN      16
#define AWS_ID_BYTES 20

/* Length of the run of letters, digits and `extra` at the start of `s`. */
static size_t run_length(struct pt_str s, const char *extra) {
    size_t n = 0;
    while (n < s.len && (isalnum((unsigned char)s.at[n]) || (s.at[n] && strchr(extra, s.at[n]))))
        n++;
    return n;
}

struct pt_mask_look pt_mask_look_at(struct pt_str s) {
    struct pt_mask_look look = { 0 };
    size_t run = 0;
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.at[i];
        look.digits += isdigit(c) != 0;
        look.upper += isupper(c) != 0;
        look.lower += islower(c) != 0;
        run = isalnum(c) ? run + 1 : 0;
        look.run = run > look.run ? run : look.run;
    }
    return look;
}

static bool is_mixed(struct pt_mask_look look) {
    return look.digits > 0 || (look.upper > 0 && look.lower > 0);
}

static size_t prefixed_length(const struct shape *shape, struct pt_str s) {
    size_t prefix = strlen(shape->prefix);
    struct pt_str rest = pt_str_skip(s, prefix);
    struct pt_str body = { rest.at, run_length(rest, shape->extra) };
    struct pt_mask_look look = pt_mask_look_at(body);
    if (body.len < shape->body || look.run < (shape->run ? shape->run : RUN_MIN) || !is_mixed(look))
        return 0;
    /* the parts of a web token are joined by dots; without one it is data as base64, unless it is
     * {"k":... of Grafana or {"t":... of Docker */
    bool is_json = strcmp(shape->prefix, "eyJ") == 0;
    if (is_json && !memchr(body.at, '.', body.len) && !pt_str_starts(body, PT_STR("rIjoi")))
        return 0;
    return prefix + body.len;
}

/* AKIA and 16 capitals or digits; then perhaps the key itself: "AKIA...:wJalr..." */
static size_t aws_length(struct pt_str s) {
    static const char *const prefixes[] = { "AKIA", "ASIA", "ABIA", "ACCA" };
    bool is_known = false;
    if (s.at[0] != 'A')
        return 0;
    for (size_t i = 0; i < PT_COUNT(prefixes); i++)
        is_known |= pt_str_starts(s, pt_str_from(prefixes[i]));
    if (!is_known || s.len < AWS_ID_BYTES || run_length(s, "") != AWS_ID_BYTES ||
        pt_mask_look_at((struct pt_str){ s.at, AWS_ID_BYTES }).lower > 0)
        return 0;
    struct pt_str key = pt_str_skip(s, AWS_ID_BYTES + 1);
    bool is_pair = s.len > AWS_ID_BYTES && strchr(":,/ =|;\t", s.at[AWS_ID_BYTES]) &&
                   run_length(key, "/+=") >= RUN_MIN;
    return is_pair ? AWS_ID_BYTES + 1 + run_length(key, "/+=") : AWS_ID_BYTES;
}

/* 123456789:AAE... of Telegram; the number may have "bot" in front. */
static size_t telegram_length(struct pt_str s) {
    if (!isdigit((unsigned char)s.at[0]) && s.at[0] != 'b')
        return 0;
    size_t start = pt_str_starts(s, PT_STR("bot")) ? 3 : 0, n = start;
    while (n < s.len && isdigit((unsigned char)s.at[n]))
        n++;
    if (n - start < 8 || n - start > 12 || n >= s.len || s.at[n] != ':')
        return 0;
    struct pt_str rest = pt_str_skip(s, n + 1);
    size_t body = run_length(rest, "-_");
    return body >= 30 && body <= 40 ? n + 1 + body : 0;
}

/* Three parts of 24, 6 and 27 characters or a few more, as Discord makes them. */
static size_t discord_length(struct pt_str s) {
    if (s.len < 57)
        return 0;
    size_t first = run_length(s, "-_");
    if (first < 23 || first > 28 || first >= s.len || s.at[first] != '.')
        return 0;
    struct pt_str rest = pt_str_skip(s, first + 1);
    if (run_length(rest, "-_") != 6 || rest.len <= 6 || rest.at[6] != '.')
        return 0;
    size_t last = run_length(pt_str_skip(rest, 7), "-_"), n = first + 8 + last;
    struct pt_mask_look look = pt_mask_look_at((struct pt_str){ s.at, n });
    return last >= 27 && look.upper > 4 && look.lower > 4 && look.digits > 1 ? n : 0;
}

/* abc8Q~... : secrets of Azure applications. */
static size_t azure_length(struct pt_str s) {
    if (s.len < 37 || s.at[5] != '~' || s.at[4] != 'Q' || !isdigit((unsigned char)s.at[3]))
        return 0;
    size_t n = run_length(s, "_.~-");
    return n >= 37 && n <= 46 ? n : 0;
}

size_t pt_mask_shape_length(struct pt_str s) {
    size_t low = 0, high = PT_COUNT(shapes);
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (shapes[middle].prefix[0] < s.at[0])
            low = middle + 1;
        else
            high = middle;
    }
    size_t longest = 0;
    for (; low < PT_COUNT(shapes) && shapes[low].prefix[0] == s.at[0]; low++) {
        if (s.len < 2 || s.at[1] != shapes[low].prefix[1])
            continue;
        size_t n = pt_str_starts(s, pt_str_from(shapes[low].prefix))
                       ? prefixed_length(&shapes[low], s)
                       : 0;
        longest = n > longest ? n : longest;
    }
    if (longest == 0)
        longest = aws_length(s);
    if (longest == 0)
        longest = telegram_length(s);
    if (longest == 0)
        longest = discord_length(s);
    return longest ? longest : azure_length(s);
}

/* Four dashes at the places of a UUID: an identity, not a secret. */
static bool is_uuid(struct pt_str s) {
    return s.len == 36 && s.at[8] == '-' && s.at[13] == '-' && s.at[18] == '-' && s.at[23] == '-';
}

bool pt_mask_is_random(struct pt_str s) {
    struct pt_mask_look look = pt_mask_look_at(s);
    return s.len >= RUN_MIN && run_length(s, "_+/=.~%-") == s.len && look.run >= RUN_MIN &&
           look.digits >= 2 && look.lower + look.upper >= 2 && !is_uuid(s);
}
