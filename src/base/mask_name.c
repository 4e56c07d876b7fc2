/* Decides which names are names of secrets. A name is split into words at - _ . and at capitals. */
#include "base/attr.h"
#include "base/mask_parts.h"
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
    "password",  "passwords",   "passwd",           "passphrase", "secret",
    "secrets",   "credential",  "credentials",      "apikey",     "apikeys",
    "accesskey", "secretkey",   "privatekey",       "authkey",    "apitoken",
    "authtoken", "accesstoken", "authorization",    "passcode",   "passkey",
    "creds",     "connstr",     "connectionstring", "webhook",    "webhooks",
};

/* ... unless the first or last word shows that the value only describes the secret. */
static const char flag_words[] = "no without ask prompt require allow enable disable show";
static const char hidden_abouts[] = "url uri endpoint"; /* of a webhook */
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
      "language lang word sub suffix prefix by every control placeholder tool inter" },
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
    { "pat", NULL, "" },
    { "psk", NULL, "" },
    { "otp", NULL, "" },
    { "dsn", NULL, "" },
    { "sas", NULL, "" },
};

/* Names whose values are secrets if they look random. */
static const char doubtful_words[] = "key keys token tokens sig signature session sid sessionid "
                                     "ticket nonce auth login access code credential license";

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

static bool has_secret_word(const struct name *n) {
    for (int i = 0; i < n->count; i++)
        for (size_t k = 0; k < PT_COUNT(secret_endings); k++)
            if (pt_str_ends(n->words[i], pt_str_from(secret_endings[k])))
                return true;
    return false;
}

static enum pt_mask_name kind_of(struct pt_str text, bool at_capitals) {
    struct name n;
    split(&n, text, at_capitals);
    drop_filler(&n);
    /* the address of a webhook is its secret: SLACK_WEBHOOK_URL */
    if (n.count > 1 && list_has(hidden_abouts, n.words[n.count - 1]) &&
        pt_str_ends(n.words[n.count - 2], PT_STR("webhook")))
        n.count--;
    if (n.count == 0 || (n.count > 1 && list_has(flag_words, n.words[0])) ||
        list_has(about_words, n.words[n.count - 1]))
        return PT_MASK_PLAIN;
    if (has_secret_word(&n) || ends_in_secret(&n))
        return PT_MASK_CERTAIN;
    return list_has(doubtful_words, n.words[n.count - 1]) ? PT_MASK_DOUBTFUL : PT_MASK_PLAIN;
}

/* A fast test: most names contain none of these and are not split into words. */
static bool has_stem(struct pt_str name) {
    static const struct pt_str stems[] = {
        PT_STR("pass"), PT_STR("secr"), PT_STR("cred"), PT_STR("key"),  PT_STR("tok"),
        PT_STR("auth"), PT_STR("pwd"),  PT_STR("cook"), PT_STR("jwt"),  PT_STR("bear"),
        PT_STR("pat"),  PT_STR("psk"),  PT_STR("otp"),  PT_STR("dsn"),  PT_STR("sas"),
        PT_STR("hook"), PT_STR("conn"), PT_STR("sig"),  PT_STR("sid"),  PT_STR("sess"),
        PT_STR("tick"), PT_STR("nonc"), PT_STR("logi"), PT_STR("acce"), PT_STR("code"),
        PT_STR("lice"),
    };
    uint32_t firsts = 0;
    for (size_t k = 0; k < PT_COUNT(stems); k++)
        firsts |= 1u << (stems[k].at[0] - 'a');
    for (size_t i = 0; i + 3 <= name.len; i++) {
        unsigned first = (unsigned char)name.at[i] | 0x20u; /* lower case, if it is a letter */
        if (first < 'a' || first > 'z' || !(firsts >> (first - 'a') & 1))
            continue;
        for (size_t k = 0; k < PT_COUNT(stems); k++)
            if (first == (unsigned char)stems[k].at[0] && name.len - i >= stems[k].len &&
                strncasecmp(name.at + i, stems[k].at, stems[k].len) == 0)
                return true;
    }
    return false;
}

enum pt_mask_name pt_mask_name_kind(struct pt_str name) {
    if (!has_stem(name))
        return PT_MASK_PLAIN;
    enum pt_mask_name a = kind_of(name, true), b = a == PT_MASK_CERTAIN ? a : kind_of(name, false);
    return a > b ? a : b;
}

bool pt_mask_is_secret_name(struct pt_str name) {
    return pt_mask_name_kind(name) == PT_MASK_CERTAIN;
}

struct pt_mask_program {
    struct pt_str name;
    const char *options;  /* their value is a secret: the next word, or attached */
    const char *attached; /* only attached: -pabc; -p alone asks for it */
    const char *logins;   /* user:password or user%password */
};

#define PROGRAM_BYTES 10 /* of the longest name */
static const struct pt_mask_program programs[] = {
    { PT_STR("7z"), "", "p", "" },         { PT_STR("cqlsh"), "p", "", "" },
    { PT_STR("curl"), "b", "", "uU" },     { PT_STR("http"), "", "", "a" },
    { PT_STR("ldapsearch"), "w", "", "" }, { PT_STR("mariadb"), "", "p", "" },
    { PT_STR("mongo"), "p", "", "" },      { PT_STR("mongosh"), "p", "", "" },
    { PT_STR("mysql"), "", "p", "" },      { PT_STR("mysqladmin"), "", "p", "" },
    { PT_STR("mysqldump"), "", "p", "" },  { PT_STR("openssl"), "k", "", "" },
    { PT_STR("redis-cli"), "a", "", "" },  { PT_STR("smbclient"), "", "", "U" },
    { PT_STR("sqlcmd"), "P", "", "" },     { PT_STR("sshpass"), "p", "", "" },
    { PT_STR("unzip"), "P", "", "" },      { PT_STR("zip"), "P", "", "" },
};

const struct pt_mask_program *pt_mask_program_of(struct pt_str word) {
    const char *slash = word.len > 0 ? memrchr(word.at, '/', word.len) : NULL;
    struct pt_str name = pt_str_skip(word, slash ? (size_t)(slash - word.at) + 1 : 0);
    for (size_t i = 0; i < PT_COUNT(programs) && name.len <= PROGRAM_BYTES; i++)
        if (pt_str_eq(name, programs[i].name))
            return &programs[i];
    return NULL;
}

enum pt_mask_next pt_mask_option(const struct pt_mask_program *program, struct pt_str word) {
    static const char *const logins[] = { "-u", "--user", "--proxy-user", "--basic-auth" };
    if (word.len < 2 || word.at[0] != '-')
        return PT_MASK_TEXT;
    for (size_t i = 0; i < PT_COUNT(logins); i++)
        if (pt_str_eq(word, pt_str_from(logins[i])))
            return PT_MASK_LOGIN;
    if (!program || word.at[1] == '-')
        return PT_MASK_TEXT;
    if (strchr(program->logins, word.at[1]))
        return PT_MASK_LOGIN;
    bool is_attached = word.len > 2 && strchr(program->attached, word.at[1]);
    return is_attached || strchr(program->options, word.at[1]) ? PT_MASK_SECRET : PT_MASK_TEXT;
}
