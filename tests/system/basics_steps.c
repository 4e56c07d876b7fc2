/* A training loop of a few milliseconds a step, measured by the basics of libpitot or not at all;
 * prints what it computed.
 *
 *     basics-steps STEPS on|off */
#include <pitot/config.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INPUTS  784
#define OUTPUTS 64
#define BATCH   32

static float weights[OUTPUTS][INPUTS], inputs[BATCH][INPUTS], outputs[BATCH][OUTPUTS];

static void forward(void) {
    PT_SPAN(span, "flow_processor");
    pt_span_set_work(&span, PT_SAMPLES, BATCH);
    for (int b = 0; b < BATCH; b++)
        for (int o = 0; o < OUTPUTS; o++) {
            float sum = 0;
            for (int i = 0; i < INPUTS; i++)
                sum += weights[o][i] * inputs[b][i];
            outputs[b][o] = sum;
        }
}

static float loss(void) {
    PT_SPAN(span, "loss_computation");
    float sum = 0;
    for (int b = 0; b < BATCH; b++)
        for (int o = 0; o < OUTPUTS; o++)
            sum += outputs[b][o] * outputs[b][o];
    return sum;
}

static float step(void) {
    PT_SPAN(span, "total_step");
    forward();
    float now = loss();
    weights[0][0] += 1e-3f * now; /* so that no step is like the one before */
    return now;
}

static int switch_on(void) {
    pt_config config;
    pt_config_init(&config);
    config.enable_metrics = true;
    return pt_configure(&config);
}

int main(int argc, char **argv) {
    if (argc != 3 || (strcmp(argv[2], "on") == 0 && switch_on()))
        return 1;
    for (int o = 0; o < OUTPUTS; o++)
        for (int i = 0; i < INPUTS; i++)
            weights[o][i] = (float)((o * 31 + i * 17) % 13) / 1000;
    for (int b = 0; b < BATCH; b++)
        for (int i = 0; i < INPUTS; i++)
            inputs[b][i] = (float)((b * 7 + i * 5) % 11) / 100;
    uint64_t counted = 0;
    float last = 0;
    for (long i = 0; i < strtol(argv[1], NULL, 10); i++) {
        last = step();
        counted = pt_step("train_step");
    }
    printf("%.9g\n%llu\n", (double)last, (unsigned long long)counted);
    return 0;
}
