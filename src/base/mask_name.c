/* Decides which names are names of secrets. A name is split into words at - _ . and at capitals. */
#include "base/mask.h"

#include "base/attr.h"
#include "base/scan.h"

#include <ctype.h>
#include <strings.h>

#define NAME_BYTES 128
#define NAME_WORDS 32

struct name {
    char text[NAME_BYTES];
    struct pt_str words[NAME_WORDS];
    int count;
};

/* A word with one of these endings, anywhere in the name, makes it the name of a secret ... */
static const char *const secret_endings[] = {
    "password",   "passwords",   "passwd",   "passphrase", "secret",      "secrets",
    "credential", "credentials", "apikey",   "apikeys",    "accesskey",   "secretkey",
    "privatekey", "authkey",     "apitoken", "authtoken",  "accesstoken", "authorization",
};

/* ... unless the first or last word shows that the value only describes the secret. */
static const char flag_words[] = "no without ask prompt require allow enable disable show";
static const char about_words[] =
    "file files path dir directory name names id ids type length len min max count policy required "
    "enabled disabled ttl expiry age env url uri format mode version provider manager";

/* Words without a meaning here: "API_KEY_VALUE" is an API key. */
static const char filler_words[] = "value text string plain plaintext raw base64 b64";

/* Words that mean a secret only at the end of the name. NULL `after`: also as the only word. */
static const struct {
    const char *word;
    const char *after;     /* the word before must be one of these; "" = any word */
    const char *not_after; /* must not be one of these */
} last_words[] = {
    { "token", NULL,
      "eos bos pad unk sep cls mask stop start end begin image video audio text speech special max "
      "min per next first last prev num n new prompt output input generated reasoning think "
      "thinking "
      "draft speculative single one each every top current target source added extra sentence "
      "language lang word sub suffix prefix by every control placeholder tool" },
    { "tokens", "auth access api bearer session refresh hub", "" },
    { "key", "",
      "public pub primary foreign sort cache partition group join index shuffle routing row hash "
      "any "
      "per by map dict object file state column config metric label sample batch dataset data "
      "feature unique query num max min text image audio video input output prompt target content "
      "id reward message messages conversation response answer question instruction completion tag "
      "field order lookup rank score time value" },
    { "keys", "api access secret private auth encryption signing", "" },
    { "pwd", "", "old" },
    { "pass", NULL,
      "single two one multi first second third forward backward per all num n max min prefill "
      "decode "
      "each every last by" },
    { "auth", NULL, "no" },
    { "cookie", NULL, "" },
    { "cookies", NULL, "" },
    { "jwt", NULL, "" },
    { "bearer", NULL, "" },
};

static bool list_has(const char *list, struct pt_str word) {
    struct pt_scan s = pt_scan_of(pt_str_from(list));
    for (struct pt_str w = pt_scan_word(&s); !s.failed; w = pt_scan_word(&s)) {
        if (pt_str_eq(w, word))
            return true;
    }
    return false;
}

static bool is_letter_case(int (*test)(int), struct pt_str s, size_t i) {
    return i < s.len && test((unsigned char)s.at[i]);
}

/* apiKey: before K. HFToken: before T. */
static bool starts_at_capital(struct pt_str s, size_t i) {
    if (i == 0 || !is_letter_case(isupper, s, i))
        return false;
    return !is_letter_case(isupper, s, i - 1) || is_letter_case(islower, s, i + 1);
}

static void split(struct name *n, struct pt_str s, bool at_capitals) {
    if (s.len > NAME_BYTES)
        s = pt_str_skip(s, s.len - NAME_BYTES);
    n->count = 0;
    struct pt_str *word = NULL;
    for (size_t i = 0; i < s.len; i++) {
        n->text[i] = (char)tolower((unsigned char)s.at[i]);
        if (!isalnum((unsigned char)s.at[i])) {
            word = NULL;
            continue;
        }
        if (!word || (at_capitals && starts_at_capital(s, i))) {
            if (n->count == NAME_WORDS)
                memmove(n->words, n->words + 1, (size_t)--n->count * sizeof n->words[0]);
            word = &n->words[n->count++];
            *word = (struct pt_str){ n->text + i, 0 };
        }
        word->len++;
    }
}

/* TOKEN1, API_KEY_2, SECRET_VALUE: removes the end, which has no meaning. */
static void drop_filler(struct name *n) {
    while (n->count > 0) {
        struct pt_str *last = &n->words[n->count - 1];
        if (n->count > 1 && list_has(filler_words, *last)) {
            n->count--;
            continue;
        }
        while (last->len > 0 && isdigit((unsigned char)last->at[last->len - 1]))
            last->len--;
        if (last->len > 0)
            return;
        n->count--;
    }
}

static bool ends_in_secret(const struct name *n) {
    struct pt_str last = n->words[n->count - 1];
    struct pt_str before = n->count > 1 ? n->words[n->count - 2] : PT_STR("");
    for (size_t i = 0; i < PT_COUNT(last_words); i++) {
        if (!pt_str_eq(last, pt_str_from(last_words[i].word)))
            continue;
        const char *after = last_words[i].after;
        if (list_has(last_words[i].not_after, before) || (after && before.len == 0))
            return false;
        return !after || !*after || list_has(after, before);
    }
    return false;
}

static bool is_secret(struct pt_str text, bool at_capitals) {
    struct name n;
    split(&n, text, at_capitals);
    drop_filler(&n);
    if (n.count == 0 || (n.count > 1 && list_has(flag_words, n.words[0])) ||
        list_has(about_words, n.words[n.count - 1]))
        return false;
    for (int i = 0; i < n.count; i++) {
        for (size_t k = 0; k < PT_COUNT(secret_endings); k++)
            if (pt_str_ends(n.words[i], pt_str_from(secret_endings[k])))
                return true;
    }
    return ends_in_secret(&n);
}

/* A fast test: most names contain none of these and are not split into words. */
static bool has_stem(struct pt_str name) {
    static const struct pt_str stems[] = {
        PT_STR("pass"), PT_STR("secr"), PT_STR("cred"), PT_STR("key"), PT_STR("tok"),
        PT_STR("auth"), PT_STR("pwd"),  PT_STR("cook"), PT_STR("jwt"), PT_STR("bear"),
    };
    for (size_t i = 0; i + 3 <= name.len; i++) {
        int first = tolower((unsigned char)name.at[i]);
        for (size_t k = 0; k < PT_COUNT(stems); k++) {
            if (first == stems[k].at[0] && name.len - i >= stems[k].len &&
                strncasecmp(name.at + i, stems[k].at, stems[k].len) == 0)
                return true;
        }
    }
    return false;
}

bool pt_mask_is_secret_name(struct pt_str name) {
    if (!has_stem(name))
        return false;
    return is_secret(name, true) || is_secret(name, false);
}
