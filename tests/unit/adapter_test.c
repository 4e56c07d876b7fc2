/* Pages of engines besides their metrics, and arguments of their command lines. */
#include "test.h"

#include "base/attr.h"
#include "source/engine/page_set.h"

#include <errno.h>

#define SLOT(id, task, is_processing, decoded, tokens)                                      \
    "{\"id\":" #id ",\"n_ctx\":100,\"is_processing\":" #is_processing ",\"id_task\":" #task \
    ",\"n_prompt_tokens\":" #tokens                                                         \
    ",\"params\":{\"n_predict\":-1,\"stop\":[\"x\"]},\"next_token\":[{\"n_remain\":-1,"     \
    "\"n_decoded\":" #decoded "}]}"

static void assert_fact(const struct pt_engine_facts *facts, const char *pair) {
    if (!strstr(facts->text, pair))
        fail_msg("'%s' is not in '%s'", pair, facts->text);
}

static void pages_describe_the_engine(void **state) {
    (void)state;
    static const struct {
        enum pt_engine_page_id page;
        const char *body, *model, *pair;
        double capacity;
    } cases[] = {
        { PT_PAGE_MODELS,
          "{\"object\":\"list\",\"data\":[{\"id\":\"a/b\",\"max_model_len\":4096}]}", "a/b",
          "max_model_len=4096", 0 },
        { PT_PAGE_MODELS, "{\"data\":[{\"id\":\"m\",\"meta\":{\"n_params\":7000,\"size\":14000}}]}",
          "m", "model_parameters=7000, model_bytes=14000", 0 },
        { PT_PAGE_VERSION, "{\"version\":\"0.11.2\"}", "", "version=0.11.2", 0 },
        { PT_PAGE_SERVER_INFO,
          "{\"model_path\":\"q\",\"tp_size\":2,\"quantization\":null,"
          "\"internal_states\":[{\"max_running_requests\":48}],\"version\":\"0.5\"}",
          "q", "tp_size=2, version=0.5", 48 },
        { PT_PAGE_TGI_INFO, "{\"model_id\":\"x\",\"max_concurrent_requests\":128}", "x", "", 128 },
        { PT_PAGE_PROPS,
          "{\"total_slots\":4,\"model_alias\":\"tiny\",\"build_info\":\"b1-a\",\"chat_template\":"
          "\"{% x %}\",\"is_sleeping\":true}",
          "tiny", "version=b1-a", 4 },
    };
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        struct pt_engine_facts facts = { 0 };
        assert_int_equal(pt_engine_page_read(cases[i].page, pt_str_from(cases[i].body), &facts), 0);
        assert_string_equal(facts.model, cases[i].model);
        assert_fact(&facts, cases[i].pair);
        assert_true(facts.request_capacity == cases[i].capacity);
        assert_true(facts.is_sleeping == (cases[i].page == PT_PAGE_PROPS));
    }
}

static void facts_have_bounds(void **state) {
    (void)state;
    struct pt_engine_facts facts = { 0 };
    char key[16];
    pt_engine_facts_add(&facts, "a", PT_STR("1, b=2"));
    pt_engine_facts_add(&facts, "a", PT_STR("x\ny"));
    assert_string_equal(facts.text, "");
    pt_engine_facts_add(&facts, "version", PT_STR("1"));
    pt_engine_facts_add(&facts, "version", PT_STR("2")); /* the first source wins */
    pt_engine_facts_add(&facts, "sion", PT_STR("3"));
    assert_string_equal(facts.text, "version=1, sion=3");
    for (int i = 0; i < 1000; i++) {
        snprintf(key, sizeof key, "key%d", i);
        pt_engine_facts_add(&facts, key, PT_STR("value"));
    }
    assert_string_equal(facts.text + strlen(facts.text) - strlen("=value"), "=value");
    assert_int_equal(pt_engine_page_read(PT_PAGE_MODELS, PT_STR("{<html>"), &facts), -EINVAL);
}

static void arguments_are_kept_by_name_and_secrets_are_not(void **state) {
    (void)state;
    struct pt_engine_facts facts = { 0 };
    pt_engine_facts_add_arguments(&facts, PT_ENGINE_VLLM,
                                  PT_STR("vllm\0serve\0m\0--max-num-seqs\0"
                                         "64\0--api-key\0sk-1\0--dtype=half\0"
                                         "--enforce-eager\0--max-model-len"));
    assert_string_equal(facts.text, "max_num_seqs=64, dtype=half, enforce_eager=1");
    assert_true(facts.request_capacity == 64);
    facts = (struct pt_engine_facts){ 0 };
    pt_engine_facts_add_arguments(&facts, PT_ENGINE_LLAMACPP,
                                  PT_STR("llama-server\0-np\0"
                                         "4\0--sleep-idle-seconds\0"
                                         "60\0"));
    assert_true(facts.may_sleep);
    assert_false(facts.has_one_cache);
    pt_engine_facts_add_arguments(&facts, PT_ENGINE_LLAMACPP, PT_STR("llama-server\0-kvu\0"));
    assert_true(facts.has_one_cache);
}

static void slots_are_read_from_new_and_old_servers(void **state) {
    (void)state;
    static struct pt_slots slots;
    assert_int_equal(
        pt_slots_read(PT_STR("[" SLOT(0, 7, true, 12, 60) "," SLOT(1, 3, false, 5, 9) "]"), &slots),
        0);
    assert_int_equal(slots.count, 2);
    assert_true(slots.at[0].is_processing && slots.at[0].task == 7 && slots.at[0].decoded == 12);
    assert_true(slots.at[0].context == 100 && slots.at[0].tokens == 60);
    assert_true(!slots.at[1].is_processing && slots.at[1].has_task);
    assert_int_equal(pt_slots_read(PT_STR("[{\"id\":0,\"n_past\":5,\"is_processing\":true,"
                                          "\"id_task\":-1,\"next_token\":{\"n_decoded\":3}}]"),
                                   &slots),
                     0);
    assert_true(slots.at[0].tokens == 5 && slots.at[0].decoded == 3 && !slots.at[0].has_task);
    static const char *const wrong[] = { "",      "[]",         "{}",  "{\"error\":{\"code\":501}}",
                                         "[1,2]", "[{\"id\":0", "null" };
    for (size_t i = 0; i < PT_COUNT(wrong); i++)
        assert_int_equal(pt_slots_read(pt_str_from(wrong[i]), &slots), -EINVAL);
}

static struct pt_slots_live live;
static struct pt_engine_reading reading;

static uint64_t take(const char *body, bool has_metrics) {
    static struct pt_slots slots;
    assert_int_equal(pt_slots_read(pt_str_from(body), &slots), 0);
    return pt_slots_take(&live, &slots, has_metrics, false, &reading);
}

static void take_metrics(double tokens) {
    reading.values[PT_ENGINE_TOKENS_GENERATION] = tokens;
    reading.present |= UINT64_C(1) << PT_ENGINE_TOKENS_GENERATION;
    pt_slots_take_metrics(&live, &reading);
}

static void assert_tokens(uint64_t known, double tokens) {
    assert_true(known >> PT_ENGINE_TOKENS_GENERATION & 1);
    assert_true(reading.values[PT_ENGINE_TOKENS_GENERATION] == tokens);
}

static void tokens_are_counted_while_requests_run(void **state) {
    (void)state;
    live = (struct pt_slots_live){ 0 };
    reading = (struct pt_engine_reading){ .kind = PT_ENGINE_LLAMACPP };
    take_metrics(1000);
    assert_tokens(take("[" SLOT(0, 1, false, 50, 20) "," SLOT(1, 2, true, 10, 30) "]", true), 1010);
    assert_true(reading.values[PT_ENGINE_REQUESTS_RUNNING] == 1);
    assert_true(reading.values[PT_ENGINE_REQUEST_CAPACITY] == 2);
    assert_true(reading.values[PT_ENGINE_REQUESTS_WAITING] == 0);
    assert_true(reading.values[PT_ENGINE_KV_USAGE] == 0.15);
    assert_false(pt_slots_are_full(&live));
    /* both run; then the second ends, which its slot still shows */
    assert_tokens(take("[" SLOT(0, 5, true, 4, 20) "," SLOT(1, 2, true, 25, 30) "]", false), 1029);
    assert_true(pt_slots_are_full(&live));
    assert_tokens(take("[" SLOT(0, 5, true, 9, 20) "," SLOT(1, 2, false, 30, 30) "]", false), 1039);
    /* a slot that was seen at its end can have another task */
    assert_tokens(take("[" SLOT(0, 5, true, 9, 20) "," SLOT(1, 8, true, 1, 30) "]", false), 1040);
    assert_false(live.has_gap);
}

static void a_request_that_ends_unseen_is_left_to_the_metrics(void **state) {
    (void)state;
    live = (struct pt_slots_live){ 0 };
    reading = (struct pt_engine_reading){ .kind = PT_ENGINE_LLAMACPP };
    take_metrics(100);
    assert_tokens(take("[" SLOT(0, 1, true, 10, 20) "]", true), 110);
    uint64_t known = take("[" SLOT(0, 2, true, 3, 20) "]", false);
    assert_false(known >> PT_ENGINE_TOKENS_GENERATION & 1);
    assert_true(live.has_gap);
    assert_false(known >> PT_ENGINE_REQUESTS_WAITING & 1); /* the queue was never read */
    reading.present |= UINT64_C(1) << PT_ENGINE_REQUESTS_WAITING;
    reading.values[PT_ENGINE_REQUESTS_WAITING] = 7;
    take_metrics(120);
    assert_tokens(take("[" SLOT(0, 3, true, 20, 20) "]", true), 140);
    known = take("[" SLOT(0, 3, true, 20, 20) "]", false);
    assert_true(known >> PT_ENGINE_REQUESTS_WAITING & 1); /* while the slots stay full */
    assert_true(reading.values[PT_ENGINE_REQUESTS_WAITING] == 7);
    known = take("[" SLOT(0, 3, false, 0, 20) "]", false); /* the slot has forgotten its end */
    assert_false(known >> PT_ENGINE_TOKENS_GENERATION & 1);
    assert_true(live.has_gap);
    take_metrics(140);
    assert_tokens(take("[" SLOT(0, 2, true, 9, 20) "]", true), 149);
    /* what was shown never falls, unless the server restarts */
    take_metrics(145);
    assert_true(reading.values[PT_ENGINE_TOKENS_GENERATION] == 149);
    take_metrics(5);
    assert_true(reading.values[PT_ENGINE_TOKENS_GENERATION] == 5);
    /* a request that began and ended between two reads */
    (void)take("[" SLOT(0, 2, false, 0, 20) "]", true);
    known = take("[" SLOT(0, 9, false, 0, 20) "]", false);
    assert_false(known >> PT_ENGINE_TOKENS_GENERATION & 1);
    assert_true(live.has_gap);
}

static void pages_are_asked_on_this_machine_only(void **state) {
    (void)state;
    static const struct {
        const char *url, *path;
        bool is_local;
    } cases[] = {
        { "http://127.0.0.1:8000/metrics", NULL, true },
        { "http://u:p@localhost:8000/metrics", NULL, true },
        { "http://[::1]:8000/metrics", NULL, true },
        { "http://localhost/metrics", "/run/e.sock", true },
        { "http://192.0.2.7:8000/metrics", NULL, false },
        { "http://localhost.example:8000/metrics", NULL, false },
        { "http://localhost@192.0.2.7/metrics", NULL, false },
    };
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        static struct pt_page_set set;
        set = (struct pt_page_set){ 0 };
        pt_page_set_init(&set, cases[i].url, cases[i].path);
        if (set.is_local != cases[i].is_local)
            fail_msg("%s", cases[i].url);
        assert_true(pt_page_set_is_due(&set, PT_PAGE_MODELS, PT_ENGINE_VLLM, false) ==
                    cases[i].is_local);
        assert_false(pt_page_set_is_due(&set, PT_PAGE_SLOTS, PT_ENGINE_VLLM, true));
    }
}

static void a_server_that_sleeps_is_not_woken(void **state) {
    (void)state;
    static struct pt_page_set set;
    pt_page_set_init(&set, "http://127.0.0.1:8080/metrics", NULL);
    assert_true(pt_page_set_is_due(&set, PT_PAGE_SLOTS, PT_ENGINE_LLAMACPP, false));
    set.facts.may_sleep = true;
    assert_false(pt_page_set_is_due(&set, PT_PAGE_SLOTS, PT_ENGINE_LLAMACPP, false));
    assert_true(pt_page_set_is_due(&set, PT_PAGE_SLOTS, PT_ENGINE_LLAMACPP, true));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(pages_describe_the_engine, "C129: pages describe the engine"),
        PT_TEST(facts_have_bounds, "C129: descriptions have bounds, the first source wins"),
        PT_TEST(arguments_are_kept_by_name_and_secrets_are_not,
                "C129: arguments that describe an engine are kept, secrets are not"),
        PT_TEST(slots_are_read_from_new_and_old_servers,
                "C117: slots are read from new and old servers"),
        PT_TEST(tokens_are_counted_while_requests_run,
                "C117 C119 C122: tokens are counted while requests run"),
        PT_TEST(a_request_that_ends_unseen_is_left_to_the_metrics,
                "C122: the tokens of a request that ends unseen are those of the metrics"),
        PT_TEST(pages_are_asked_on_this_machine_only, "C129: pages are asked on this machine only"),
        PT_TEST(a_server_that_sleeps_is_not_woken, "C126: a server that sleeps is not woken"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
