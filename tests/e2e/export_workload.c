/* A program that measures known amounts and exports them, in all formats.
 *
 *     export-workload DIRECTORY     files: metrics.txt .om .pb .json, trace.json .gz, logs/
 *     export-workload --serve PORT  /metrics for a scraper, by its Accept header, until killed */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pitot/export.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define REQUESTS 100

static pt_histogram seconds;

static void check(int is_fine, const char *what) {
    if (is_fine)
        return;
    fprintf(stderr, "export-workload: %s\n", what);
    exit(1);
}

/* 1000 values from 1 ms to 1 s: their quantiles are known. */
static void make_metrics(void) {
    pt_counter ok = pt_counter_new("requests_total", "", "Total requests", "code=\"200\"");
    pt_gauge active = pt_gauge_new("active_requests", "", "Active requests", NULL);
    seconds = pt_histogram_new("request_duration_seconds", "s", "Request duration", NULL);
    pt_counter bad = pt_counter_new("requests_total", "", "Total requests",
                                    "code=\"500\",text=\"a \\\"b\\\" c\\\\d\\ne\"");
    pt_gauge memory = pt_gauge_new("memory_usage_bytes", "By", "Memory usage", NULL);
    pt_counter_add(ok, 900);
    pt_counter_add(bad, 100);
    pt_gauge_set(active, 2.5);
    pt_gauge_set(memory, 1e9);
    for (int i = 1; i <= 1000; i++)
        pt_histogram_record(seconds, i / 1000.0);
}

struct part {
    uint64_t first;
    pthread_barrier_t *barrier;
};

/* A request is taken in by the main thread and done by another; every second one by none. */
static void *work(void *arg) {
    struct part *part = arg;
    pthread_setname_np(pthread_self(), "worker");
    for (uint64_t i = part->first; i < REQUESTS; i += 4) {
        PT_SPAN(decode, "decode");
        pt_span_set_request(&decode, i);
        pt_span_set_work(&decode, PT_TOKENS, 10);
        PT_SPAN(step, "step \"1\"");
        pt_span_set_argument(&step, (int64_t)i);
    }
    pthread_barrier_wait(part->barrier);
    pthread_barrier_wait(part->barrier);
    return NULL;
}

static const char *path_in(const char *directory, const char *name) {
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

/* The workers are still there when the trace is written, so that they have names. */
static void make_traces(const char *directory) {
    for (uint64_t i = 0; i < REQUESTS; i++) {
        PT_SPAN(accept_span, "accept");
        pt_span_set_request(&accept_span, i);
    }
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, NULL, 3);
    pthread_t threads[2];
    struct part parts[2] = { { 0, &barrier }, { 1, &barrier } };
    for (int i = 0; i < 2; i++)
        check(!pthread_create(&threads[i], NULL, work, &parts[i]), "no thread");
    pthread_barrier_wait(&barrier);
    check(!pt_write_trace(path_in(directory, "trace.json")), "no trace");
    check(!pt_write_trace(path_in(directory, "trace.json.gz")), "no compressed trace");
    check(!pt_write_trace("-"), "no trace on standard output");
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&barrier);
}

static void write_file(const char *path, enum pt_exposition_format format) {
    size_t length;
    char *text = pt_render(format, &length);
    FILE *file = fopen(path, "wb");
    check(text && file && fwrite(text, 1, length, file) == length && !fclose(file), path);
    free(text);
}

static void make_board(const char *directory) {
    pt_tensorboard *board = pt_tensorboard_open(path_in(directory, "logs"));
    check(board != NULL, "no event file");
    for (int step = 0; step < 100; step++)
        check(!pt_tensorboard_scalar(board, "loss", step, 1.0 / (step + 1)), "no scalar");
    check(!pt_tensorboard_histogram(board, "latency", 100, seconds), "no histogram");
    check(!pt_tensorboard_metrics(board, 100), "no metrics");
    check(!pt_tensorboard_close(board), "no end");
}

static void answer(int connection) {
    char request[8192], head[512];
    size_t used = 0, length;
    while (used + 1 < sizeof request) {
        ssize_t n = read(connection, request + used, sizeof request - 1 - used);
        if (n <= 0)
            return;
        used += (size_t)n;
        request[used] = '\0';
        if (strstr(request, "\r\n\r\n"))
            break;
    }
    char *accept_line = strstr(request, "\r\nAccept: ");
    if (accept_line) {
        accept_line += 10;
        accept_line[strcspn(accept_line, "\r")] = '\0';
    }
    enum pt_exposition_format format = pt_negotiate(accept_line);
    char *text = pt_render(format, &length);
    check(text != NULL, "no text");
    int n = snprintf(head, sizeof head, "HTTP/1.0 200 OK\r\nContent-Type: %s\r\n\r\n",
                     pt_content_type(format));
    if (write(connection, head, (size_t)n) != n || write(connection, text, length) < 0)
        fprintf(stderr, "export-workload: the scraper is gone\n");
    free(text);
}

static void serve(const char *port) {
    struct sockaddr_in address;
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_port = htons((uint16_t)strtoul(port, NULL, 10));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int one = 1, server = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    check(!bind(server, (struct sockaddr *)&address, sizeof address) && !listen(server, 8),
          "cannot listen");
    for (;;) {
        int connection = accept(server, NULL, NULL);
        if (connection < 0)
            continue;
        answer(connection);
        close(connection);
    }
}

int main(int argc, char **argv) {
    check(argc >= 2, "needs a directory");
    check(!pt_start(NULL), "cannot start");
    make_metrics();
    if (argc == 3)
        serve(argv[2]);
    write_file(path_in(argv[1], "metrics.txt"), PT_PROMETHEUS);
    write_file(path_in(argv[1], "metrics.om"), PT_OPENMETRICS);
    write_file(path_in(argv[1], "metrics.pb"), PT_PROTOBUF);
    write_file(path_in(argv[1], "metrics.json"), PT_JSON);
    make_traces(argv[1]);
    make_board(argv[1]);
    return 0;
}
