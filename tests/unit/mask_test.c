/* Masking of secrets: what must be hidden, what must stay, and that a line can be read back. */
#include "test.h"

#include "base/attr.h"
#include "base/err.h"
#include "base/mask.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct line_case {
    const char *line; /* words separated by '~' */
    const char *masked;
};

static char *masked_line(struct pt_str words) {
    struct pt_buf nul_separated = { 0 }, out = { 0 };
    pt_buf_str(&nul_separated, words);
    for (size_t i = 0; i < nul_separated.len; i++) {
        if (nul_separated.at[i] == '~')
            nul_separated.at[i] = 0;
    }
    pt_mask_arguments(&out, pt_buf_as_str(&nul_separated));
    char *text = pt_strndup(pt_buf_as_str(&out));
    pt_buf_release(&nul_separated);
    pt_buf_release(&out);
    return text;
}

static void check_lines(const struct line_case *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        char *text = masked_line(pt_str_from(cases[i].line));
        assert_string_equal(text, cases[i].masked);
        pt_free(text);
    }
}

static void options_and_assignments_lose_their_secret(void **state) {
    (void)state;
    static const struct line_case cases[] = {
        { "x~--token=abc", "x --token=***" },
        { "x~--token~abc~y", "x --token *** y" },
        { "x~--TOKEN~abc", "x --TOKEN ***" },
        { "x~-token~abc", "x -token ***" },
        { "x~--api-key~abc", "x --api-key ***" },
        { "x~--api_key=abc", "x --api_key=***" },
        { "x~--apiKey=abc", "x --apiKey=***" },
        { "x~--apikey~abc", "x --apikey ***" },
        { "x~--hf-token~abc", "x --hf-token ***" },
        { "x~--password=a b c", "x --password=***" },
        { "x~--db-passwd~a", "x --db-passwd ***" },
        { "x~--client-secret~a", "x --client-secret ***" },
        { "x~--secret-key-base~a", "x --secret-key-base ***" },
        { "x~--token~-abc123", "x --token ***" },
        { "env~HF_TOKEN=abc~python", "env HF_TOKEN=*** python" },
        { "env~OPENAI_API_KEY=abc", "env OPENAI_API_KEY=***" },
        { "env~AWS_SECRET_ACCESS_KEY=a/b+c=", "env AWS_SECRET_ACCESS_KEY=***" },
        { "env~PGPASSWORD=abc", "env PGPASSWORD=***" },
        { "env~MYSQL_PWD=abc", "env MYSQL_PWD=***" },
        { "env~CLIENT_SECRET=abc", "env CLIENT_SECRET=***" },
        { "env~API_KEY_2=abc", "env API_KEY_2=***" },
        { "docker~run~-e~HF_TOKEN=abc~img", "docker run -e HF_TOKEN=*** img" },
        { "docker~run~--env=HF_TOKEN=abc", "docker run --env=HF_TOKEN=***" },
        { "java~-Dspring.datasource.password=abc", "java -Dspring.datasource.password=***" },
        { "spark~--conf~spark.hadoop.fs.s3a.secret.key=abc",
          "spark --conf spark.hadoop.fs.s3a.secret.key=***" },
        { "openssl~-passin~pass:abc", "openssl -passin pass:***" },
        { "curl~-u~joe:abc~http://h", "curl -u joe:*** http://h" },
    };
    check_lines(cases, PT_COUNT(cases));
}

static void headers_urls_and_json_lose_their_secret(void **state) {
    (void)state;
    static const struct line_case cases[] = {
        { "curl~-H~Authorization: Bearer abc def", "curl -H 'Authorization: ***'" },
        { "curl~-H~X-Api-Key: abc", "curl -H 'X-Api-Key: ***'" },
        { "curl~-HAuthorization: Bearer abc", "curl '-HAuthorization: ***'" },
        { "x~--header=Authorization: Basic abc", "x '--header=Authorization: ***'" },
        { "x~--metadata=authorization=Bearer abc", "x --metadata=authorization=***" },
        { "x~postgres://joe:abc@db:5432/d", "x postgres://joe:***@db:5432/d" },
        { "x~--db=redis://:a/b@host:6379", "x --db=redis://:***@host:6379" },
        { "x~http://u:a@h1/,http://u:b@h2/", "x http://u:***@h1/,http://u:***@h2/" },
        { "x~https://u:p@ss@h/", "x https://u:***@h/" },
        { "x~https://0123456789abcdef0123@sentry.io/1", "x https://***@sentry.io/1" },
        { "curl~-x~joe:abc@proxy:3128", "curl -x joe:***@proxy:3128" },
        { "x~http://h/p?a=1&token=abc&b=2", "x 'http://h/p?a=1&token=***&b=2'" },
        { "x~https://b/o?sv=1&sig=abc%3D", "x 'https://b/o?sv=1&sig=***'" },
        { "x~{\"api_key\": \"a\\\"b\", \"model\": \"m\"}",
          "x '{\"api_key\": \"***\", \"model\": \"m\"}'" },
        { "x~{\"token\":\"a\",\"password\":\"b\",\"n\":1}",
          "x '{\"token\":\"***\",\"password\":\"***\",\"n\":1}'" },
        { "x~{\"api_keys\": [\"a\", \"b\"]}", "x '{\"api_keys\": ***'" },
        { "x~host=h password=abc user=u", "x 'host=h password=*** user=u'" },
        { "x~host=h password='a b' user=u", "x 'host=h password='\\''***'\\'' user=u'" },
        { "sh~-c~serve --api-key abc --port 1", "sh -c 'serve --api-key *** --port 1'" },
        { "sh~-c~export HF_TOKEN=abc; python x.py", "sh -c 'export HF_TOKEN=*** python x.py'" },
        { "sh~-c~curl -H \"Authorization: Bearer abc\" http://h",
          "sh -c 'curl -H \"Authorization: ***\" http://h'" },
    };
    check_lines(cases, PT_COUNT(cases));
}

static void tokens_are_known_by_their_shape(void **state) {
    (void)state;
    static const struct line_case cases[] = {
        { "x~hf_AbCdEfGhIjKlMnOpQrStUvWx", "x ***" },
        { "x~-k~sk-proj-0123456789abcdefghij", "x -k ***" },
        { "x~ghp_0123456789abcdefghijABCDEFGHIJ012345", "x ***" },
        { "x~git+https://ghp_0123456789abcdefghijABCDEFGHIJ012345@github.com/a/b",
          "x git+https://***@github.com/a/b" },
        { "x~AKIAIOSFODNN7EXAMPLE", "x ***" },
        { "x~eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "x ***" },
        { "x~xoxb-123456789012-abcdef", "x ***" },
        { "x~a,hf_AbCdEfGhIjKlMnOpQrStUvWx,b", "x a,***,b" },
    };
    check_lines(cases, PT_COUNT(cases));
}

/* Quotes around < and > may be added; nothing else may change. */
static void drop_quotes(char *text) {
    char *to = text;
    for (const char *from = text; *from; from++) {
        if (*from != '\'')
            *to++ = *from;
    }
    *to = 0;
}

static void harmless_words_stay_as_they_are(void **state) {
    (void)state;
    static const char *const lines[] = {
        "vllm serve m --max-tokens 5 --port 8000",
        "x --max-num-batched-tokens=8192",
        "x --tokenizer /models/t --tokenizer-mode auto",
        "x --tokens-per-second 100 --key-value-store /db",
        "x --eos-token </s> --pad-token=<pad> --eos-token-id 2",
        "x --text-key text --input_key prompt --label-key=y",
        "x --time-per-output-token 5",
        "x monkey keyboard --keyboard us --monkey=1 turkey",
        "x --password-file /run/p --token-file=/run/t --no-password --port 1",
        "x --public-key abc --sort-key=name --primary-key id",
        "x --token --port 80",
        "x --token= --port 80",
        "x --use-auth-token=True --token none",
        "x http://localhost:8000/v1/metrics http://[::1]:80/ http://h:80/a@b",
        "x git@github.com:a/b.git ssh://git@host/x nvcr.io/p:23.10@sha256:abcd",
        "x -v /srv/secrets:/run/secrets -v secrets:/run/secrets --user 1000:1000",
        "x --user joe --name a:b 12:30 C:/x",
        "x hf_hub_download sk-learn-is-not-a-key-at-all disk-0 AKIA eyJust hf_short",
        "x --secretary-bird 1 --compass north --bypass=1 --authority a --authors b",
        "x --two-pass=1 --num-keys 5 --keys a,b --key 2",
        "x OLDPWD=/a PWD=/b PATH=/c LESSKEY=/d",
        "x std::token::value vllm:time_per_output_token_seconds",
        "x 58dd3b2a5d8e6a2f4c8a0f6f6d9b8c7e6a5f4d3c",
    };
    for (size_t i = 0; i < PT_COUNT(lines); i++) {
        char *words = pt_strdup(lines[i]);
        for (char *c = words; *c; c++)
            *c = *c == ' ' ? '~' : *c;
        char *text = masked_line(pt_str_from(words));
        drop_quotes(text);
        assert_string_equal(text, lines[i]);
        pt_free(text);
        pt_free(words);
    }
}

static void names_are_judged_by_their_words(void **state) {
    (void)state;
    static const char *const secret[] = {
        "HF_TOKEN",       "HUGGING_FACE_HUB_TOKEN",
        "WANDB_API_KEY",  "AWS_SESSION_TOKEN",
        "--api-key",      "api.key",
        "clientSecret",   "HFToken",
        "pAsSwOrD",       "DB_PASS",
        "Authorization",  "Proxy-Authorization",
        "X-Auth-Token",   "Cookie",
        "passphrase",     "ssh_key",
        "SECRET_VALUE",   "TOKEN1",
        "accessToken",    "VLLM_API_KEY",
        "PRIVATE-TOKEN",  "auth-tokens",
        "NGC_API_KEY",    "LANGCHAIN_API_KEY",
        "MY_APP_SECRETS", "credentials",
        "encryption-key", "S3_ACCESS_KEY",
    };
    static const char *const plain[] = {
        "",
        "-",
        "--",
        "PATH",
        "PWD",
        "max_tokens",
        "tokenizer",
        "maxTokens",
        "key",
        "keys",
        "monkey",
        "stop_token",
        "token_ids",
        "password_file",
        "secret-name",
        "n_token",
        "cacheKey",
        "AWS_ACCESS_KEY_ID",
        "SSH_AUTH_SOCK",
        "NCCL_DEBUG",
        "OMP_NUM_THREADS",
        "CUDA_VISIBLE_DEVICES",
        "author",
        "tokens",
    };
    for (size_t i = 0; i < PT_COUNT(secret); i++) {
        if (!pt_mask_is_secret_name(pt_str_from(secret[i])))
            fail_msg("%s is a secret", secret[i]);
    }
    for (size_t i = 0; i < PT_COUNT(plain); i++) {
        if (pt_mask_is_secret_name(pt_str_from(plain[i])))
            fail_msg("%s is not a secret", plain[i]);
    }
}

static void a_line_is_one_line_that_a_shell_reads_back(void **state) {
    (void)state;
    static const struct line_case cases[] = {
        { "", "" },
        { "x", "x" },
        { "x~~y", "x '' y" },
        { "x~~~", "x" },
        { "x~a b~c", "x 'a b' c" },
        { "x~it's", "x 'it'\\''s'" },
        { "x~$HOME;ls", "x '$HOME;ls'" },
        { "x~a\nb\t'\x01", "x $'a\\nb\\t\\'\\x01'" },
        { "x~back\\slash", "x 'back\\slash'" },
    };
    check_lines(cases, PT_COUNT(cases));
}

static void an_argument_vector_gives_the_same_line(void **state) {
    (void)state;
    char program[] = "vllm", option[] = "--api-key", key[] = "abc", path[] = "a b";
    char *argv[] = { program, option, key, path, NULL };
    struct pt_buf out = { 0 };
    pt_mask_argv(&out, argv);
    assert_str_eq(pt_buf_as_str(&out), "vllm --api-key *** 'a b'");
    pt_buf_release(&out);
}

static void a_variable_is_hidden_by_name_or_by_content(void **state) {
    (void)state;
    static const struct {
        const char *name, *value, *masked;
    } cases[] = {
        { "HF_TOKEN", "abc", "***" },       { "HF_TOKEN", "", "" },
        { "HF_HOME", "/cache", "/cache" },  { "HF_ENDPOINT", "https://u:p@h/", "https://u:***@h/" },
        { "PYTHONPATH", "/a:/b", "/a:/b" }, { "NCCL_SOCKET_IFNAME", "eth0,ib", "eth0,ib" },
    };
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        struct pt_buf out = { 0 };
        pt_mask_value(&out, pt_str_from(cases[i].name), pt_str_from(cases[i].value));
        assert_str_eq(pt_buf_as_str(&out), cases[i].masked);
        pt_buf_release(&out);
    }
}

static char *masked_text(const char *text) {
    struct pt_buf out = { 0 };
    pt_mask_text(&out, pt_str_from(text));
    char *masked = pt_strndup(pt_buf_as_str(&out));
    pt_buf_release(&out);
    return masked;
}

static void any_text_loses_its_secret_once_and_for_all(void **state) {
    (void)state;
    static const struct {
        const char *text, *masked;
    } cases[] = {
        { "sent Bearer abcdefgh12345678 to x", "sent Bearer *** to x" },
        { "a bearer of news", "a bearer of news" },
        { "http://h/--token abcdefgh12345678", "http://h/--token ***" },
        { "ftp:-u joe:abcdefgh12345678", "ftp:-u joe:***" },
        { "run key=aB3xY9kLmN2pQ7rTvW5zC8dF; then", "run key=*** then" },
        { "https://h/token: connection refused", "https://h/token: connection refused" },
        { "https://abcdefgh1234@h/x", "https://***@h/x" },
        { "https://abcdefgh12345678:x-oauth-basic@h/", "https://***:***@h/" },
        { "https://joe@h/x", "https://joe@h/x" },
        { "see https://hooks.slack.com/services/T1/B2/c3?x=1",
          "see https://hooks.slack.com/***?x=1" },
        { "hooks.slack.com/services/T1/B2/c3", "hooks.slack.com/***" },
        { "https://h/hooks/abc123 y", "https://h/hooks/*** y" },
        { "https://h/tree/hooks/index", "https://h/tree/hooks/index" },
        { "alert webhook https://h/abc: timeout", "alert webhook https://h/***: timeout" },
        { "a -----BEGIN PRIVATE KEY-----\nMIIabc\n-----END PRIVATE KEY----- b", "a *** b" },
        { "-----BEGIN PRIVATE KEY-----\nMIIabc", "***" },
        { "-----BEGIN CERTIFICATE-----\nabc", "-----BEGIN CERTIFICATE-----\nabc" },
        { "mysql -pabc -u joe x", "mysql -p*** -u joe x" },
        { "tar -pabc x", "tar -pabc x" },
        { "curl -ujoe:abc http://h", "curl -ujoe:*** http://h" },
        { "['--token', 'abc', '--port', '80']", "['--token', '***', '--port', '80']" },
        { "[\"--api-key\", \"abc\", \"x\"]", "[\"--api-key\", \"***\", \"x\"]" },
        { "key=abcdefgh12345678abcd", "key=***" },
        { "key=left", "key=left" },
        { "key=550e8400-e29b-41d4-a716-446655440000", "key=550e8400-e29b-41d4-a716-446655440000" },
        { "AKIAABCDEFGHIJKLMNOP:abcdefghijklmnopqrstuvwxyz0123456789/+ab", "***" },
        { "my-ghp_0123456789abcdefghij0123.txt", "my-***.txt" },
        { "-kghp_0123456789abcdefghij0123", "-k***" },
        { "xghp_0123456789abcdefghij0123", "xghp_0123456789abcdefghij0123" },
        { "SLACK_WEBHOOK_URL=https://h/x", "SLACK_WEBHOOK_URL=***" },
        { "--allow-private-webhook yes", "--allow-private-webhook yes" },
        { "", "" },
    };
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        char *once = masked_text(cases[i].text), *twice = masked_text(once);
        assert_string_equal(once, cases[i].masked);
        assert_string_equal(twice, cases[i].masked);
        assert_int_equal(pt_mask_is_clean(pt_str_from(cases[i].text)),
                         strcmp(cases[i].text, cases[i].masked) == 0);
        pt_free(once);
        pt_free(twice);
    }
}

static void words_of_a_command_line_are_known_by_those_before(void **state) {
    (void)state;
    static const struct line_case cases[] = {
        { "x~Authorization:~Bearer~abc~y", "x Authorization: *** *** y" },
        { "sudo~/usr/bin/mysql~-pabc~db", "sudo /usr/bin/mysql -p*** db" },
        { "mysql~-p~db", "mysql -p db" },
        { "sshpass~-p~abc~ssh~h", "sshpass -p *** ssh h" },
        { "smbclient~-U~joe%abc", "smbclient -U joe%***" },
        { "x~-----BEGIN~PRIVATE~KEY-----~MII~-----END~PRIVATE~KEY-----~y",
          "x *** *** *** *** *** *** *** y" },
        { "x~--pat~abc", "x --pat ***" },
    };
    check_lines(cases, PT_COUNT(cases));
}

static void a_message_is_masked_shown_and_cut(void **state) {
    (void)state;
    struct pt_err err;
    assert_int_equal(pt_fail(&err, -EINVAL, "'%s' is wrong", "http://u:pw@h/\x1b[31m\xc2\x9b\n"),
                     -EINVAL);
    assert_string_equal(err.text, "'http://u:***@h/\\x1b[31m\\x9b\\x0a' is wrong");
    pt_fail(&err, -EINVAL, "--tls-cert and --tls-key: give both or neither");
    assert_string_equal(err.text, "--tls-cert and --tls-key: give both or neither");
    /* a secret that the end of the buffer cuts is not known by its shape: nothing of it is shown */
    for (int before = 900; before < 1300; before++) {
        char text[2048];
        snprintf(text, sizeof text, "%0*d ghp_ABCDEFabcdef0123456789ABCDEFabcdef01234567", before,
                 0);
        pt_fail(&err, -EINVAL, "%s", text);
        assert_null(strstr(err.text, "ABC"));
    }
}

/* Appends the literals from here on, up to other code; where that begins. */
static const char *add_literals(struct pt_buf *text, const char *at) {
    while (*(at += strspn(at, " \n")) == '"') {
        for (at++; *at && *at != '"'; at += 1 + (*at == '\\'))
            pt_buf_bytes(text, at, 1 + (size_t)(*at == '\\'));
        at += *at == '"';
    }
    return at;
}

static int message_count, masked_count;

static int check_messages(const char *path, const struct stat *status, int type) {
    static const char *const calls[] = { "pt_log(", "pt_fail(" };
    struct pt_buf text = { 0 }, message = { 0 };
    char part[4096];
    size_t n;
    (void)status;
    FILE *file =
        type == FTW_F && pt_str_ends(pt_str_from(path), PT_STR(".c")) ? fopen(path, "r") : NULL;
    while (file && (n = fread(part, 1, sizeof part, file)) > 0)
        pt_buf_bytes(&text, part, n);
    pt_buf_bytes(&text, "", 1);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        for (const char *at = (const char *)text.at; (at = strstr(at, calls[i]));) {
            at += strlen(calls[i]);
            at += strcspn(at, "\";");
            message.len = 0;
            at = add_literals(&message, at);
            message_count += message.len > 0;
            if (pt_mask_is_clean(pt_buf_as_str(&message)))
                continue;
            masked_count++;
            print_error("%s: %.*s\n", path, (int)message.len, (const char *)message.at);
        }
    if (file)
        fclose(file);
    pt_buf_release(&text);
    pt_buf_release(&message);
    return 0;
}

static void no_message_of_our_own_is_masked(void **state) {
    (void)state;
    char *source = pt_asprintf("%s/src", getenv("PITOT_SOURCE"));
    assert_int_equal(ftw(source, check_messages, 16), 0);
    pt_free(source);
    assert_true(message_count > 300);
    assert_int_equal(masked_count, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(any_text_loses_its_secret_once_and_for_all,
                "C325: any text loses its secret, once and for all"),
        PT_TEST(words_of_a_command_line_are_known_by_those_before,
                "C325: words of a command line are known by those before"),
        PT_TEST(no_message_of_our_own_is_masked, "C325: no message of our own is masked"),
        PT_TEST(a_message_is_masked_shown_and_cut, "C325: a message is masked, shown and cut"),
        PT_TEST(options_and_assignments_lose_their_secret,
                "options and assignments lose their secret"),
        PT_TEST(headers_urls_and_json_lose_their_secret,
                "headers, URLs and JSON lose their secret"),
        PT_TEST(tokens_are_known_by_their_shape, "tokens are known by their shape"),
        PT_TEST(harmless_words_stay_as_they_are, "harmless words stay as they are"),
        PT_TEST(names_are_judged_by_their_words, "names are judged by their words"),
        PT_TEST(a_line_is_one_line_that_a_shell_reads_back,
                "a line is one line that a shell reads back"),
        PT_TEST(an_argument_vector_gives_the_same_line, "an argument vector gives the same line"),
        PT_TEST(a_variable_is_hidden_by_name_or_by_content,
                "a variable is hidden by name or by content"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
