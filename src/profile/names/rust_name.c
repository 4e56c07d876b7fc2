/* A descent along the grammar of RFC 2603. Each function takes what it is called after and prints
 * it; a failure sticks, and after it nothing is taken or printed. */
#include "profile/names/rust_name.h"

#include "base/scan.h"
#include "base/utf8.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

#define DEPTH_MAX    200
#define PUNYCODE_MAX 128 /* characters of an identifier */

struct parser {
    struct pt_scan scan; /* behind "_R" */
    const char *start;   /* where back references count from */
    struct pt_buf *out;
    size_t out_start;
    int depth;
    int silent;               /* above 0: nothing is printed */
    uint64_t bound_lifetimes; /* by the binders around */
    bool is_open;             /* the arguments of the trait that was taken last */
};

struct identifier {
    struct pt_str ascii;
    struct pt_str punycode; /* empty: it is plain */
    uint64_t disambiguator;
};

static void fail(struct parser *p) {
    p->scan.failed = true;
}

static bool has_failed(const struct parser *p) {
    return p->scan.failed;
}

static void print(struct parser *p, struct pt_str text) {
    if (p->silent || has_failed(p))
        return;
    if (p->out->len - p->out_start + text.len > PT_RUST_NAME_MAX)
        fail(p);
    else
        pt_buf_str(p->out, text);
}

static void print_text(struct parser *p, const char *text) {
    print(p, pt_str_from(text));
}

static void print_number(struct parser *p, uint64_t number) {
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, number);
    print_text(p, text);
}

/* The next character, or 0. */
static char peek(const struct parser *p) {
    return has_failed(p) || p->scan.at == p->scan.end ? 0 : *p->scan.at;
}

static char next(struct parser *p) {
    char c = peek(p);
    if (c)
        p->scan.at++;
    else
        fail(p);
    return c;
}

static bool take(struct parser *p, char c) {
    if (peek(p) != c)
        return false;
    p->scan.at++;
    return true;
}

static int digit_62(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'z' ? c - 'a' + 10
           : c >= 'A' && c <= 'Z' ? c - 'A' + 36
                                  : -1;
}

/* "_" is 0, "0_" 1, "1_" 2, ... */
static uint64_t number_62(struct parser *p) {
    uint64_t value = 0;
    if (take(p, '_'))
        return 0;
    while (!take(p, '_') && !has_failed(p)) {
        int digit = digit_62(next(p));
        if (digit < 0 || __builtin_mul_overflow(value, 62, &value) ||
            __builtin_add_overflow(value, (uint64_t)digit, &value))
            fail(p);
    }
    if (__builtin_add_overflow(value, 1, &value))
        fail(p);
    return value;
}

/* A number that may be absent: 0; the one that is called 0 is 1. */
static uint64_t optional_62(struct parser *p, char tag) {
    uint64_t value;
    if (!take(p, tag))
        return 0;
    if (__builtin_add_overflow(number_62(p), 1, &value))
        fail(p);
    return value;
}

static uint64_t decimal(struct parser *p) {
    if (!isdigit((unsigned char)peek(p)))
        fail(p);
    if (take(p, '0'))
        return 0;
    return pt_scan_u64(&p->scan);
}

static struct identifier plain_identifier(struct parser *p) {
    struct identifier found = { PT_STR(""), PT_STR(""), 0 };
    bool is_punycode = take(p, 'u');
    uint64_t size = decimal(p);
    (void)take(p, '_');
    if (has_failed(p) || size > (uint64_t)(p->scan.end - p->scan.at)) {
        fail(p);
        return found;
    }
    found.ascii = (struct pt_str){ p->scan.at, (size_t)size };
    p->scan.at += size;
    if (!is_punycode)
        return found;
    /* the part that is ASCII comes first, up to the last '_' */
    const char *cut = memrchr(found.ascii.at, '_', found.ascii.len);
    size_t ascii = cut ? (size_t)(cut - found.ascii.at) : 0;
    found.punycode = pt_str_skip(found.ascii, cut ? ascii + 1 : 0);
    found.ascii.len = ascii;
    if (found.punycode.len == 0)
        fail(p);
    return found;
}

static struct identifier identifier(struct parser *p) {
    uint64_t disambiguator = optional_62(p, 's');
    struct identifier found = plain_identifier(p);
    found.disambiguator = disambiguator;
    return found;
}

/* RFC 3492, with its parameters. */
static uint64_t adapt(uint64_t delta, uint64_t count, bool is_first) {
    uint64_t k = 0;
    delta /= is_first ? 700 : 2;
    delta += delta / count;
    for (; delta > 35 * 26 / 2; k += 36)
        delta /= 35;
    return k + 36 * delta / (delta + 38);
}

static int punycode_digit(char c) {
    return c >= 'a' && c <= 'z' ? c - 'a' : c >= '0' && c <= '9' ? c - '0' + 26 : -1;
}

/* The next difference of a position; false at the end or where there is none. */
static bool punycode_delta(struct pt_scan *s, uint64_t bias, uint64_t *delta) {
    uint64_t weight = 1;
    *delta = 0;
    for (uint64_t k = 36;; k += 36) {
        int digit = s->at < s->end ? punycode_digit(*s->at++) : -1;
        uint64_t limit = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias, step;
        if (digit < 0 || __builtin_mul_overflow((uint64_t)digit, weight, &step) ||
            __builtin_add_overflow(*delta, step, delta))
            return false;
        if ((uint64_t)digit < limit)
            return true;
        if (__builtin_mul_overflow(weight, 36 - limit, &weight))
            return false;
    }
}

static bool is_character(uint64_t code) {
    return code < 0x110000 && !(code >= 0xd800 && code < 0xe000);
}

/* How many characters; 0: it is no punycode. */
static size_t decode(const struct identifier *i, uint32_t codes[PUNYCODE_MAX]) {
    struct pt_scan s = pt_scan_of(i->punycode);
    uint64_t code = 0x80, bias = 72, position = 0, delta;
    size_t count = 0;
    if (i->ascii.len >= PUNYCODE_MAX)
        return 0;
    for (; count < i->ascii.len; count++)
        codes[count] = (uint8_t)i->ascii.at[count];
    while (s.at < s.end) {
        bool is_first = count == i->ascii.len;
        if (count == PUNYCODE_MAX || !punycode_delta(&s, bias, &delta) ||
            __builtin_add_overflow(position, delta, &position))
            return 0;
        code += position / (count + 1);
        if (!is_character(code))
            return 0;
        position %= count + 1;
        bias = adapt(delta, count + 1, is_first);
        memmove(&codes[position + 1], &codes[position], (count - position) * sizeof *codes);
        codes[position++] = (uint32_t)code;
        count++;
    }
    return count;
}

static void print_identifier(struct parser *p, const struct identifier *i) {
    uint32_t codes[PUNYCODE_MAX];
    if (i->punycode.len == 0) {
        print(p, i->ascii);
        return;
    }
    size_t count = decode(i, codes);
    struct pt_buf text = { 0 };
    for (size_t k = 0; k < count; k++)
        pt_utf8_put(&text, codes[k]);
    if (count == 0)
        fail(p);
    print(p, pt_buf_as_str(&text));
    pt_buf_release(&text);
}

static void enter(struct parser *p) {
    if (++p->depth > DEPTH_MAX)
        fail(p);
}

static void leave(struct parser *p) {
    p->depth--;
}

/* Behind "B": goes on where something was said before, then comes back. */
static void back_reference(struct parser *p, void (*what)(struct parser *p)) {
    const char *tag = p->scan.at - 1;
    uint64_t position = number_62(p);
    if (has_failed(p) || position >= (uint64_t)(tag - p->start)) {
        fail(p);
        return;
    }
    if (p->silent)
        return;
    struct pt_scan here = p->scan;
    p->scan.at = p->start + position;
    enter(p);
    what(p);
    leave(p);
    here.failed = p->scan.failed;
    p->scan = here;
}

static void path(struct parser *p, bool is_value);
static void type(struct parser *p);
static void constant(struct parser *p);

static void path_of_type(struct parser *p) {
    path(p, false);
}

static void path_of_value(struct parser *p) {
    path(p, true);
}

/* A lifetime by how many binders further in it is used: 'a, 'b, ... from the outermost. */
static void print_lifetime(struct parser *p, uint64_t index) {
    if (index == 0) {
        print_text(p, "'_");
        return;
    }
    if (index > p->bound_lifetimes) {
        fail(p);
        return;
    }
    uint64_t number = p->bound_lifetimes - index;
    char text[] = "'a";
    text[1] = (char)('a' + number % 26);
    if (number < 26) {
        print_text(p, text);
    } else {
        print_text(p, "'_");
        print_number(p, number);
    }
}

/* for<'a, 'b> ; returns how many. */
static uint64_t binder(struct parser *p) {
    uint64_t count = optional_62(p, 'G');
    if (count > 1000) {
        fail(p);
        return 0;
    }
    for (uint64_t i = 0; i < count; i++) {
        print_text(p, i == 0 ? "for<" : ", ");
        p->bound_lifetimes++;
        print_lifetime(p, 1);
    }
    if (count > 0)
        print_text(p, "> ");
    return count;
}

/* Elements up to "E"; how many. */
static size_t list(struct parser *p, void (*element)(struct parser *p), const char *between) {
    size_t count = 0;
    for (; !take(p, 'E') && !has_failed(p); count++) {
        if (count > 0)
            print_text(p, between);
        element(p);
    }
    return count;
}

static void generic_argument(struct parser *p) {
    if (take(p, 'L'))
        print_lifetime(p, number_62(p));
    else if (take(p, 'K'))
        constant(p);
    else
        type(p);
}

/* Where an impl stands says nothing of what it is. */
static void skip_impl_path(struct parser *p) {
    p->silent++;
    (void)optional_62(p, 's');
    path(p, false);
    p->silent--;
}

/* <T>, <T as Trait> */
static void impl(struct parser *p, bool has_trait) {
    print_text(p, "<");
    type(p);
    if (has_trait) {
        print_text(p, " as ");
        path(p, false);
    }
    print_text(p, ">");
}

static void print_special(struct parser *p, char namespace, const struct identifier *name) {
    char other[2] = { namespace, 0 };
    print_text(p, "{");
    print_text(p, namespace == 'C' ? "closure" : namespace == 'S' ? "shim" : other);
    if (name->ascii.len > 0 || name->punycode.len > 0) {
        print_text(p, ":");
        print_identifier(p, name);
    }
    print_text(p, "#");
    print_number(p, name->disambiguator);
    print_text(p, "}");
}

static void nested(struct parser *p, bool is_value) {
    char namespace = next(p);
    if (!isalpha((unsigned char)namespace))
        fail(p);
    path(p, is_value);
    struct identifier name = identifier(p);
    if (isupper((unsigned char)namespace)) {
        print_text(p, "::");
        print_special(p, namespace, &name);
    } else if (name.ascii.len > 0 || name.punycode.len > 0) {
        print_text(p, "::");
        print_identifier(p, &name);
    }
}

static void generic(struct parser *p, bool is_value) {
    path(p, is_value);
    print_text(p, is_value ? "::<" : "<");
    (void)list(p, generic_argument, ", ");
    print_text(p, ">");
}

static void path_after(struct parser *p, char tag, bool is_value) {
    struct identifier crate;
    switch (tag) {
    case 'C':
        crate = identifier(p);
        print_identifier(p, &crate);
        break;
    case 'M':
        skip_impl_path(p);
        impl(p, false);
        break;
    case 'X':
        skip_impl_path(p);
        impl(p, true);
        break;
    case 'Y':
        impl(p, true);
        break;
    case 'N':
        nested(p, is_value);
        break;
    case 'I':
        generic(p, is_value);
        break;
    case 'B':
        back_reference(p, is_value ? path_of_value : path_of_type);
        break;
    default:
        fail(p);
    }
}

static void path(struct parser *p, bool is_value) {
    enter(p);
    path_after(p, next(p), is_value);
    leave(p);
}

static const char *basic_type(char tag) {
    static const char *const names[26] = {
        ['a' - 'a'] = "i8",    ['b' - 'a'] = "bool", ['c' - 'a'] = "char", ['d' - 'a'] = "f64",
        ['e' - 'a'] = "str",   ['f' - 'a'] = "f32",  ['h' - 'a'] = "u8",   ['i' - 'a'] = "isize",
        ['j' - 'a'] = "usize", ['l' - 'a'] = "i32",  ['m' - 'a'] = "u32",  ['n' - 'a'] = "i128",
        ['o' - 'a'] = "u128",  ['p' - 'a'] = "_",    ['s' - 'a'] = "i16",  ['t' - 'a'] = "u16",
        ['u' - 'a'] = "()",    ['v' - 'a'] = "...",  ['x' - 'a'] = "i64",  ['y' - 'a'] = "u64",
        ['z' - 'a'] = "!",
    };
    return tag >= 'a' && tag <= 'z' ? names[tag - 'a'] : NULL;
}

static void reference(struct parser *p, const char *mutability) {
    print_text(p, "&");
    if (take(p, 'L')) {
        uint64_t lifetime = number_62(p);
        if (lifetime > 0) {
            print_lifetime(p, lifetime);
            print_text(p, " ");
        }
    }
    print_text(p, mutability);
    type(p);
}

static void array(struct parser *p) {
    print_text(p, "[");
    type(p);
    print_text(p, "; ");
    constant(p);
    print_text(p, "]");
}

static void tuple(struct parser *p) {
    print_text(p, "(");
    if (list(p, type, ", ") == 1)
        print_text(p, ",");
    print_text(p, ")");
}

/* extern "C", extern "system-unwind": '-' is written as '_'. */
static void abi(struct parser *p) {
    print_text(p, "extern \"");
    if (take(p, 'C')) {
        print_text(p, "C");
    } else {
        struct pt_str name = plain_identifier(p).ascii;
        for (size_t i = 0; i < name.len; i++)
            print(p, name.at[i] == '_' ? PT_STR("-") : (struct pt_str){ name.at + i, 1 });
    }
    print_text(p, "\" ");
}

static void function(struct parser *p) {
    uint64_t bound = binder(p);
    if (take(p, 'U'))
        print_text(p, "unsafe ");
    if (take(p, 'K'))
        abi(p);
    print_text(p, "fn(");
    (void)list(p, type, ", ");
    print_text(p, ")");
    if (!take(p, 'u')) { /* what returns () says nothing */
        print_text(p, " -> ");
        type(p);
    }
    p->bound_lifetimes -= bound;
}

/* A trait whose arguments may go on with bindings: Iterator<Item = u8>. */
static void open_trait(struct parser *p) {
    enter(p);
    p->is_open = false;
    if (take(p, 'B')) {
        back_reference(p, open_trait);
    } else if (take(p, 'I')) {
        path(p, false);
        print_text(p, "<");
        (void)list(p, generic_argument, ", ");
        p->is_open = true;
    } else {
        path(p, false);
    }
    leave(p);
}

static void bound_trait(struct parser *p) {
    open_trait(p);
    bool is_open = p->is_open;
    while (take(p, 'p')) {
        print_text(p, is_open ? ", " : "<");
        is_open = true;
        struct identifier name = plain_identifier(p);
        print_identifier(p, &name);
        print_text(p, " = ");
        type(p);
    }
    if (is_open)
        print_text(p, ">");
}

static void dynamic(struct parser *p) {
    print_text(p, "dyn ");
    uint64_t bound = binder(p);
    (void)list(p, bound_trait, " + ");
    p->bound_lifetimes -= bound;
    if (!take(p, 'L')) {
        fail(p);
        return;
    }
    uint64_t lifetime = number_62(p);
    if (lifetime > 0) {
        print_text(p, " + ");
        print_lifetime(p, lifetime);
    }
}

static void pointer(struct parser *p, const char *what) {
    print_text(p, what);
    type(p);
}

static void type_after(struct parser *p, char tag) {
    switch (tag) {
    case 'A':
        array(p);
        break;
    case 'S':
        print_text(p, "[");
        type(p);
        print_text(p, "]");
        break;
    case 'T':
        tuple(p);
        break;
    case 'R':
        reference(p, "");
        break;
    case 'Q':
        reference(p, "mut ");
        break;
    case 'P':
        pointer(p, "*const ");
        break;
    case 'O':
        pointer(p, "*mut ");
        break;
    case 'F':
        function(p);
        break;
    case 'D':
        dynamic(p);
        break;
    case 'B':
        back_reference(p, type);
        break;
    default: /* a path */
        p->scan.at--;
        path(p, false);
    }
}

static void type(struct parser *p) {
    enter(p);
    char tag = next(p);
    const char *basic = basic_type(tag);
    if (basic)
        print_text(p, basic);
    else if (!has_failed(p))
        type_after(p, tag);
    leave(p);
}

/* Hexadecimal digits up to "_". */
static struct pt_str hexadecimal(struct parser *p) {
    struct pt_str digits = pt_scan_until(&p->scan, '_');
    for (size_t i = 0; i < digits.len; i++)
        if (!strchr("0123456789abcdef", digits.at[i]))
            fail(p);
    return digits;
}

static void integer(struct parser *p) {
    bool is_negative = take(p, 'n');
    struct pt_str digits = hexadecimal(p);
    struct pt_scan s = pt_scan_of(digits);
    print_text(p, is_negative ? "-" : "");
    if (digits.len == 0)
        print_text(p, "0");
    else if (digits.len <= 16)
        print_number(p, pt_scan_hex(&s));
    else {
        print_text(p, "0x");
        print(p, digits);
    }
}

static void boolean(struct parser *p) {
    struct pt_str digits = hexadecimal(p);
    bool is_true = pt_str_eq(digits, PT_STR("1"));
    if (!is_true && !pt_str_eq(digits, PT_STR("0")))
        fail(p);
    print_text(p, is_true ? "true" : "false");
}

static void print_character(struct parser *p, uint32_t code, char quote) {
    static const char plain[] = "\t\r\n\\", letters[] = "trn\\";
    const char *found = code > 0 && code < 128 ? strchr(plain, (int)code) : NULL;
    struct pt_buf text = { 0 };
    if (found || code == (uint8_t)quote) {
        pt_buf_u8(&text, '\\');
        pt_buf_u8(&text, (uint8_t)(found ? letters[found - plain] : quote));
    } else {
        pt_utf8_put(&text, code);
    }
    print(p, pt_buf_as_str(&text));
    pt_buf_release(&text);
}

static void character(struct parser *p) {
    struct pt_str digits = hexadecimal(p);
    struct pt_scan s = pt_scan_of(digits);
    uint64_t code = digits.len > 0 && digits.len <= 8 ? pt_scan_hex(&s) : UINT64_MAX;
    if (!is_character(code)) {
        fail(p);
        return;
    }
    print_text(p, "'");
    print_character(p, (uint32_t)code, '\'');
    print_text(p, "'");
}

static void constant_after(struct parser *p, char tag) {
    if (tag == 'p')
        print_text(p, "_");
    else if (tag == 'B')
        back_reference(p, constant);
    else if (tag == 'b')
        boolean(p);
    else if (tag == 'c')
        character(p);
    else if (tag && strchr("ahijlmnostxy", tag))
        integer(p);
    else
        fail(p);
}

static void constant(struct parser *p) {
    enter(p);
    constant_after(p, next(p));
    leave(p);
}

/* What the compiler added behind: .llvm.1234, .cold */
static bool is_suffix(struct pt_str rest) {
    return rest.len == 0 || rest.at[0] == '.' || rest.at[0] == '$';
}

bool pt_rust_name(struct pt_str mangled, struct pt_buf *into) {
    struct parser p = { .scan = pt_scan_of(mangled), .out = into, .out_start = into->len };
    if (!pt_scan_take(&p.scan, PT_STR("_R")))
        return false;
    p.start = p.scan.at;
    if (isdigit((unsigned char)peek(&p)))
        fail(&p); /* of a later version */
    path(&p, true);
    if (isupper((unsigned char)peek(&p))) { /* the crate that made this instance */
        p.silent++;
        path(&p, false);
    }
    if (!has_failed(&p) && is_suffix(pt_scan_rest(&p.scan)))
        return true;
    into->len = p.out_start;
    return false;
}
