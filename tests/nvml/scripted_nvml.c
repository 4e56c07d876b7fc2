/* tests/nvml/scripted_nvml.c -- a library with the ABI of NVML that plays a script.
 *
 * The script is the file named by SCRIPTED_NVML, read again by nvmlInit. A line names a function
 * (with /N: only for the argument N: a clock, a sensor, a link, a field id, a GPM metric), a device
 * (0, 1, ..., MIG instances 0.0, 0.1, ..., or * for all) and the answers of its first, second, ...
 * call; the last answer stays:
 *
 *     devices 2
 *     step_ms 100                                  answers follow the clock, not the calls
 *     nvmlDeviceGetPowerUsage          0  250000 260000 !15
 *     nvmlDeviceGetUtilizationRates    *  85:40
 *     nvmlDeviceGetName                *  NVIDIA_H100
 *     nvmlDeviceGetTemperature/0       1  ~ 45
 *     nvmlDeviceGetComputeRunningProcesses_v3  0  4711:1073741824,4712:-
 *
 * An answer is numbers with colons between them (- is all ones), commas between the entries of a
 * list, !N for the return code N, ~ to hang until scripted_nvml_release(), ~N for N milliseconds
 * (then the next answer follows in the same call). Text is one word, _ for a blank. Of several
 * lines that fit, the last one counts. A function without a line is not supported.
 *
 * Built a second time with -DSCRIPTED_OLD, it has only the functions of an old driver. */
#include "source/gpu/nvml_api.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EXPORT       __attribute__((visibility("default")))
#define LINES_MAX    512
#define ANSWERS_MAX  64
#define NUMBERS_MAX  4
#define ENTRIES_MAX  64
#define NOT_AN_INDEX (-1)

struct line {
    char function[64], device[24];
    int argument; /* NOT_AN_INDEX: any */
    char *answers[ANSWERS_MAX];
    int answer_count, call_count;
};

/* GPUs and MIG instances are addresses in here: the script knows them by name. */
struct pt_nvml_device {
    char name[24];
    int gpu, instance; /* instance is NOT_AN_INDEX for a GPU */
};

struct pt_nvml_gpm_sample {
    struct pt_nvml_device *device;
};

struct answer {
    int code;
    unsigned long long numbers[ENTRIES_MAX][NUMBERS_MAX];
    int entry_count;
    char text[96];
};

static struct line lines[LINES_MAX];
static int line_count, device_count, step_ms;
static struct pt_nvml_device devices[64];
static int used_devices;
static struct timespec started;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t released = PTHREAD_COND_INITIALIZER;
static bool is_released, is_hanging;
static int shutdown_count;

/* For tests: lets a call go that hangs; whether one does; how often NVML was shut down. */
EXPORT void scripted_nvml_release(void);
EXPORT bool scripted_nvml_hangs(void);
EXPORT int scripted_nvml_shutdowns(void);

void scripted_nvml_release(void) {
    pthread_mutex_lock(&mutex);
    is_released = true;
    pthread_cond_broadcast(&released);
    pthread_mutex_unlock(&mutex);
}

bool scripted_nvml_hangs(void) {
    pthread_mutex_lock(&mutex);
    bool answer = is_hanging;
    pthread_mutex_unlock(&mutex);
    return answer;
}

int scripted_nvml_shutdowns(void) {
    pthread_mutex_lock(&mutex);
    int answer = shutdown_count;
    pthread_mutex_unlock(&mutex);
    return answer;
}

static void hang(void) {
    is_hanging = true;
    while (!is_released)
        pthread_cond_wait(&released, &mutex);
    is_hanging = false;
}

static void forget_script(void) {
    for (int i = 0; i < line_count; i++)
        for (int k = 0; k < lines[i].answer_count; k++)
            free(lines[i].answers[k]);
    memset(lines, 0, sizeof lines);
    line_count = device_count = step_ms = used_devices = 0;
}

static void add_line(char *text) {
    char *save = NULL, *word = strtok_r(text, " \t\n", &save);
    if (!word || word[0] == '#' || line_count == LINES_MAX)
        return;
    struct line *l = &lines[line_count];
    *l = (struct line){ .argument = NOT_AN_INDEX };
    char *slash = strchr(word, '/');
    if (slash) {
        l->argument = (int)strtol(slash + 1, NULL, 10);
        *slash = 0;
    }
    snprintf(l->function, sizeof l->function, "%s", word);
    char *device = strtok_r(NULL, " \t\n", &save);
    if (!device)
        return;
    if (strcmp(word, "devices") == 0)
        device_count = (int)strtol(device, NULL, 10);
    if (strcmp(word, "step_ms") == 0)
        step_ms = (int)strtol(device, NULL, 10);
    snprintf(l->device, sizeof l->device, "%s", device);
    while (l->answer_count < ANSWERS_MAX && (word = strtok_r(NULL, " \t\n", &save)))
        l->answers[l->answer_count++] = strdup(word);
    line_count++;
}

static void read_script(void) {
    const char *path = getenv("SCRIPTED_NVML");
    FILE *file = path ? fopen(path, "r") : NULL;
    char text[4096];
    forget_script();
    while (file && fgets(text, sizeof text, file))
        add_line(text);
    if (file)
        fclose(file);
    clock_gettime(CLOCK_MONOTONIC, &started);
}

static struct line *find_line(const char *function, const char *device, int argument) {
    for (int i = line_count; i-- > 0;) {
        struct line *l = &lines[i];
        if (strcmp(l->function, function) == 0 &&
            (strcmp(l->device, "*") == 0 || strcmp(l->device, device) == 0) &&
            (l->argument == NOT_AN_INDEX || l->argument == argument))
            return l;
    }
    return NULL;
}

static int steps_since_start(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long long ms =
        (now.tv_sec - started.tv_sec) * 1000LL + (now.tv_nsec - started.tv_nsec) / 1000000;
    return (int)(ms / step_ms);
}

/* The answer of this call, after the pauses before it. */
static const char *next_answer(struct line *l) {
    for (;;) {
        int index = step_ms > 0 ? steps_since_start() : l->call_count++;
        if (l->answer_count == 0)
            return "!3";
        const char *text = l->answers[index < l->answer_count ? index : l->answer_count - 1];
        if (text[0] != '~')
            return text;
        if (text[1])
            nanosleep(&(struct timespec){ strtol(text + 1, NULL, 10) / 1000,
                                          strtol(text + 1, NULL, 10) % 1000 * 1000000 },
                      NULL);
        else
            hang();
        if (l->call_count >= l->answer_count && l->answers[l->answer_count - 1][0] == '~')
            return "!999";
    }
}

static void parse_numbers(const char *text, struct answer *a) {
    while (a->entry_count < ENTRIES_MAX) {
        for (int i = 0; i < NUMBERS_MAX; i++) {
            char *end = NULL;
            a->numbers[a->entry_count][i] =
                *text == '-' ? (end = (char *)text + 1, ~0ULL) : strtoull(text, &end, 0);
            text = end;
            if (*text != ':')
                break;
            text++;
        }
        a->entry_count++;
        if (*text != ',')
            return;
        text++;
    }
}

static struct answer ask(const char *function, const char *device, int argument) {
    struct answer a = { .code = PT_NVML_NOT_SUPPORTED };
    pthread_mutex_lock(&mutex);
    struct line *l = find_line(function, device, argument);
    const char *text = l ? next_answer(l) : "!3";
    if (text[0] == '!') {
        a.code = (int)strtol(text + 1, NULL, 10);
    } else {
        a.code = PT_NVML_SUCCESS;
        snprintf(a.text, sizeof a.text, "%s", text);
        for (char *c = a.text; *c; c++)
            if (*c == '_')
                *c = ' ';
        if (strcmp(text, "none") != 0)
            parse_numbers(text, &a);
    }
    pthread_mutex_unlock(&mutex);
    return a;
}

static struct answer ask_device(const char *function, struct pt_nvml_device *d) {
    return ask(function, d->name, NOT_AN_INDEX);
}

static struct pt_nvml_device *device_at(int gpu, int instance) {
    for (int i = 0; i < used_devices; i++)
        if (devices[i].gpu == gpu && devices[i].instance == instance)
            return &devices[i];
    struct pt_nvml_device *d = &devices[used_devices++];
    *d = (struct pt_nvml_device){ .gpu = gpu, .instance = instance };
    if (instance == NOT_AN_INDEX)
        snprintf(d->name, sizeof d->name, "%d", gpu);
    else
        snprintf(d->name, sizeof d->name, "%d.%d", gpu, instance);
    return d;
}

static int get_u32(const char *function, struct pt_nvml_device *d, int argument, unsigned *value) {
    struct answer a = ask(function, d->name, argument);
    if (a.code == PT_NVML_SUCCESS)
        *value = (unsigned)a.numbers[0][0];
    return a.code;
}

static int get_text(const char *function, const char *device, char *text, unsigned capacity) {
    struct answer a = ask(function, device, NOT_AN_INDEX);
    if (a.code == PT_NVML_SUCCESS)
        snprintf(text, capacity, "%s", a.text);
    return a.code;
}

#define U32(name) U32_(name) /* expands the spelling first */
#define U32_(name)                                              \
    EXPORT int name(struct pt_nvml_device *d, unsigned *value); \
    int name(struct pt_nvml_device *d, unsigned *value) {       \
        return get_u32(#name, d, NOT_AN_INDEX, value);          \
    }
#define U32_OF(name)                                                            \
    EXPORT int name(struct pt_nvml_device *d, unsigned which, unsigned *value); \
    int name(struct pt_nvml_device *d, unsigned which, unsigned *value) {       \
        return get_u32(#name, d, (int)which, value);                            \
    }
#define U64(name) U64_(name)
#define U64_(name)                                                        \
    EXPORT int name(struct pt_nvml_device *d, unsigned long long *value); \
    int name(struct pt_nvml_device *d, unsigned long long *value) {       \
        struct answer a = ask_device(#name, d);                           \
        if (a.code == PT_NVML_SUCCESS)                                    \
            *value = a.numbers[0][0];                                     \
        return a.code;                                                    \
    }
#define TWO_U32(name)                                                             \
    EXPORT int name(struct pt_nvml_device *d, unsigned *first, unsigned *second); \
    int name(struct pt_nvml_device *d, unsigned *first, unsigned *second) {       \
        struct answer a = ask_device(#name, d);                                   \
        if (a.code == PT_NVML_SUCCESS) {                                          \
            *first = (unsigned)a.numbers[0][0];                                   \
            *second = (unsigned)a.numbers[0][1];                                  \
        }                                                                         \
        return a.code;                                                            \
    }
#define TEXT(function)                                                            \
    EXPORT int function(struct pt_nvml_device *d, char *text, unsigned capacity); \
    int function(struct pt_nvml_device *d, char *text, unsigned capacity) {       \
        return get_text(#function, (d)->name, text, capacity);                    \
    }
#define PROCESSES(name)                                                                       \
    EXPORT int name(struct pt_nvml_device *d, unsigned *count, struct pt_nvml_process *list); \
    int name(struct pt_nvml_device *d, unsigned *count, struct pt_nvml_process *list) {       \
        struct answer a = ask_device(#name, d);                                               \
        unsigned room = *count;                                                               \
        if (a.code != PT_NVML_SUCCESS)                                                        \
            return a.code;                                                                    \
        *count = (unsigned)a.entry_count;                                                     \
        if (*count > room)                                                                    \
            return PT_NVML_INSUFFICIENT_SIZE;                                                 \
        for (int i = 0; i < a.entry_count; i++)                                               \
            list[i] = (struct pt_nvml_process){ (unsigned)a.numbers[i][0], a.numbers[i][1],   \
                                                (unsigned)a.numbers[i][2], 0 };               \
        return a.code;                                                                        \
    }
#define PROCESSES_V1(name)                                                                       \
    EXPORT int name(struct pt_nvml_device *d, unsigned *count, struct pt_nvml_process_v1 *list); \
    int name(struct pt_nvml_device *d, unsigned *count, struct pt_nvml_process_v1 *list) {       \
        struct answer a = ask_device(#name, d);                                                  \
        unsigned room = *count;                                                                  \
        if (a.code != PT_NVML_SUCCESS)                                                           \
            return a.code;                                                                       \
        *count = (unsigned)a.entry_count;                                                        \
        if (*count > room)                                                                       \
            return PT_NVML_INSUFFICIENT_SIZE;                                                    \
        for (int i = 0; i < a.entry_count; i++)                                                  \
            list[i] = (struct pt_nvml_process_v1){ (unsigned)a.numbers[i][0], a.numbers[i][1] }; \
        return a.code;                                                                           \
    }

static int start(void) {
    pthread_mutex_lock(&mutex);
    read_script();
    is_released = false;
    pthread_mutex_unlock(&mutex);
    struct answer a = ask("nvmlInit", "*", NOT_AN_INDEX);
    if (a.code == PT_NVML_SUCCESS || a.code == PT_NVML_NOT_SUPPORTED)
        return PT_NVML_SUCCESS;
    pthread_mutex_lock(&mutex);
    forget_script(); /* nobody shuts down what did not start */
    pthread_mutex_unlock(&mutex);
    return a.code;
}

static int count_devices(unsigned *count) {
    struct answer a = ask("nvmlDeviceGetCount", "*", NOT_AN_INDEX);
    if (a.code != PT_NVML_SUCCESS && a.code != PT_NVML_NOT_SUPPORTED)
        return a.code;
    *count = (unsigned)device_count;
    return PT_NVML_SUCCESS;
}

static int find_device(unsigned index, struct pt_nvml_device **d) {
    if ((int)index >= device_count)
        return PT_NVML_INVALID_ARGUMENT;
    struct pt_nvml_device *found = device_at((int)index, NOT_AN_INDEX);
    struct answer a = ask_device("nvmlDeviceGetHandleByIndex", found);
    if (a.code != PT_NVML_SUCCESS && a.code != PT_NVML_NOT_SUPPORTED)
        return a.code;
    *d = found;
    return PT_NVML_SUCCESS;
}

static int get_pci(struct pt_nvml_device *d, struct pt_nvml_pci *pci) {
    struct answer a = ask_device("nvmlDeviceGetPciInfo", d);
    if (a.code != PT_NVML_SUCCESS)
        return a.code;
    pci->domain = (unsigned)a.numbers[0][0];
    pci->bus = (unsigned)a.numbers[0][1];
    pci->device = (unsigned)a.numbers[0][2];
    return a.code;
}

#ifdef SCRIPTED_OLD
#define INIT        nvmlInit
#define COUNT       nvmlDeviceGetCount
#define BY_INDEX    nvmlDeviceGetHandleByIndex
#define PCI         nvmlDeviceGetPciInfo_v2
#define REASONS     nvmlDeviceGetCurrentClocksThrottleReasons
#define POWER_LIMIT nvmlDeviceGetPowerManagementLimit
#else
#define INIT        nvmlInit_v2
#define COUNT       nvmlDeviceGetCount_v2
#define BY_INDEX    nvmlDeviceGetHandleByIndex_v2
#define PCI         nvmlDeviceGetPciInfo_v3
#define REASONS     nvmlDeviceGetCurrentClocksEventReasons
#define POWER_LIMIT nvmlDeviceGetEnforcedPowerLimit
#endif

EXPORT int INIT(void);
EXPORT int nvmlShutdown(void);
EXPORT int COUNT(unsigned *count);
EXPORT int BY_INDEX(unsigned index, struct pt_nvml_device **d);
EXPORT int PCI(struct pt_nvml_device *d, struct pt_nvml_pci *pci);
EXPORT int nvmlSystemGetDriverVersion(char *text, unsigned capacity);
EXPORT int nvmlDeviceGetUtilizationRates(struct pt_nvml_device *d, struct pt_nvml_utilization *u);
EXPORT int nvmlDeviceGetMemoryInfo(struct pt_nvml_device *d, struct pt_nvml_memory *m);

int INIT(void) {
    return start();
}

int nvmlShutdown(void) {
    pthread_mutex_lock(&mutex);
    forget_script();
    shutdown_count++;
    pthread_mutex_unlock(&mutex);
    return PT_NVML_SUCCESS;
}

int COUNT(unsigned *count) {
    return count_devices(count);
}

int BY_INDEX(unsigned index, struct pt_nvml_device **d) {
    return find_device(index, d);
}

int PCI(struct pt_nvml_device *d, struct pt_nvml_pci *pci) {
    return get_pci(d, pci);
}

int nvmlSystemGetDriverVersion(char *text, unsigned capacity) {
    return get_text("nvmlSystemGetDriverVersion", "*", text, capacity);
}

int nvmlDeviceGetUtilizationRates(struct pt_nvml_device *d, struct pt_nvml_utilization *u) {
    struct answer a = ask_device("nvmlDeviceGetUtilizationRates", d);
    if (a.code == PT_NVML_SUCCESS)
        *u = (struct pt_nvml_utilization){ (unsigned)a.numbers[0][0], (unsigned)a.numbers[0][1] };
    return a.code;
}

int nvmlDeviceGetMemoryInfo(struct pt_nvml_device *d, struct pt_nvml_memory *m) {
    struct answer a = ask_device("nvmlDeviceGetMemoryInfo", d);
    if (a.code == PT_NVML_SUCCESS)
        *m = (struct pt_nvml_memory){ a.numbers[0][0], a.numbers[0][1], a.numbers[0][2] };
    return a.code;
}

TEXT(nvmlDeviceGetName)
TEXT(nvmlDeviceGetUUID)
U32_OF(nvmlDeviceGetTemperature)
U32_OF(nvmlDeviceGetClockInfo)
U32_OF(nvmlDeviceGetMaxClockInfo)
U32(nvmlDeviceGetPowerUsage)
U32(POWER_LIMIT)
U32(nvmlDeviceGetPerformanceState)
U32(nvmlDeviceGetFanSpeed)
U64(REASONS)

#ifdef SCRIPTED_OLD
PROCESSES_V1(nvmlDeviceGetComputeRunningProcesses)
PROCESSES_V1(nvmlDeviceGetGraphicsRunningProcesses)
#else
PROCESSES(nvmlDeviceGetComputeRunningProcesses_v3)
PROCESSES(nvmlDeviceGetGraphicsRunningProcesses_v3)
PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses_v3)
U32_OF(nvmlDeviceGetPcieThroughput)
U32_OF(nvmlDeviceGetNvLinkState)
U32(nvmlDeviceGetCurrPcieLinkGeneration)
U32(nvmlDeviceGetCurrPcieLinkWidth)
U32(nvmlDeviceGetPcieReplayCounter)
U32(nvmlDeviceGetMaxMigDeviceCount)
U32(nvmlDeviceGetGpuInstanceId)
U32(nvmlDeviceGetComputeInstanceId)
U64(nvmlDeviceGetTotalEnergyConsumption)
TWO_U32(nvmlDeviceGetEncoderUtilization)
TWO_U32(nvmlDeviceGetDecoderUtilization)
TWO_U32(nvmlDeviceGetMigMode)

EXPORT const char *nvmlErrorString(int code);
EXPORT int nvmlSystemGetCudaDriverVersion_v2(int *version);
EXPORT int nvmlDeviceGetMemoryInfo_v2(struct pt_nvml_device *d, struct pt_nvml_memory_v2 *m);
EXPORT int nvmlDeviceGetBAR1MemoryInfo(struct pt_nvml_device *d, struct pt_nvml_bar1 *m);
EXPORT int nvmlDeviceGetTotalEccErrors(struct pt_nvml_device *d, unsigned kind, unsigned counter,
                                       unsigned long long *errors);
EXPORT int nvmlDeviceGetRetiredPages(struct pt_nvml_device *d, unsigned cause, unsigned *count,
                                     unsigned long long *addresses);
EXPORT int nvmlDeviceGetRemappedRows(struct pt_nvml_device *d, unsigned *correctable,
                                     unsigned *uncorrectable, unsigned *pending, unsigned *failed);
EXPORT int nvmlDeviceGetViolationStatus(struct pt_nvml_device *d, unsigned policy,
                                        struct pt_nvml_violation *v);
EXPORT int nvmlDeviceGetFieldValues(struct pt_nvml_device *d, int count, struct pt_nvml_field *f);
EXPORT int nvmlDeviceGetProcessUtilization(struct pt_nvml_device *d,
                                           struct pt_nvml_process_sample *list, unsigned *count,
                                           unsigned long long since_us);
EXPORT int nvmlDeviceGetMigDeviceHandleByIndex(struct pt_nvml_device *d, unsigned index,
                                               struct pt_nvml_device **instance);
EXPORT int nvmlEventSetCreate(struct pt_nvml_event_set **set);
EXPORT int nvmlEventSetFree(struct pt_nvml_event_set *set);
EXPORT int nvmlDeviceRegisterEvents(struct pt_nvml_device *d, unsigned long long types,
                                    struct pt_nvml_event_set *set);
EXPORT int nvmlEventSetWait_v2(struct pt_nvml_event_set *set, struct pt_nvml_event *event,
                               unsigned timeout_ms);
EXPORT int nvmlGpmQueryDeviceSupport(struct pt_nvml_device *d, struct pt_nvml_gpm_support *support);
EXPORT int nvmlGpmSampleAlloc(struct pt_nvml_gpm_sample **sample);
EXPORT int nvmlGpmSampleFree(struct pt_nvml_gpm_sample *sample);
EXPORT int nvmlGpmSampleGet(struct pt_nvml_device *d, struct pt_nvml_gpm_sample *sample);
EXPORT int nvmlGpmMigSampleGet(struct pt_nvml_device *d, unsigned instance,
                               struct pt_nvml_gpm_sample *sample);
EXPORT int nvmlGpmMetricsGet(struct pt_nvml_gpm_query *query);

const char *nvmlErrorString(int code) {
    return code == PT_NVML_UNKNOWN ? "Unknown Error" : "Scripted error";
}

int nvmlSystemGetCudaDriverVersion_v2(int *version) {
    struct answer a = ask("nvmlSystemGetCudaDriverVersion", "*", NOT_AN_INDEX);
    if (a.code == PT_NVML_SUCCESS)
        *version = (int)a.numbers[0][0];
    return a.code;
}

/* total:reserved:free:used */
int nvmlDeviceGetMemoryInfo_v2(struct pt_nvml_device *d, struct pt_nvml_memory_v2 *m) {
    if (m->version != PT_NVML_MEMORY_V2)
        return PT_NVML_ARGUMENT_VERSION_MISMATCH;
    struct answer a = ask_device("nvmlDeviceGetMemoryInfo_v2", d);
    if (a.code == PT_NVML_SUCCESS)
        *m = (struct pt_nvml_memory_v2){ m->version, a.numbers[0][0], a.numbers[0][1],
                                         a.numbers[0][2], a.numbers[0][3] };
    return a.code;
}

int nvmlDeviceGetBAR1MemoryInfo(struct pt_nvml_device *d, struct pt_nvml_bar1 *m) {
    struct answer a = ask_device("nvmlDeviceGetBAR1MemoryInfo", d);
    if (a.code == PT_NVML_SUCCESS)
        *m = (struct pt_nvml_bar1){ a.numbers[0][0], a.numbers[0][1], a.numbers[0][2] };
    return a.code;
}

/* The argument is kind + 2 x counter. */
int nvmlDeviceGetTotalEccErrors(struct pt_nvml_device *d, unsigned kind, unsigned counter,
                                unsigned long long *errors) {
    struct answer a = ask("nvmlDeviceGetTotalEccErrors", d->name, (int)(kind + 2 * counter));
    if (a.code == PT_NVML_SUCCESS)
        *errors = a.numbers[0][0];
    return a.code;
}

int nvmlDeviceGetRetiredPages(struct pt_nvml_device *d, unsigned cause, unsigned *count,
                              unsigned long long *addresses) {
    struct answer a = ask("nvmlDeviceGetRetiredPages", d->name, (int)cause);
    if (a.code != PT_NVML_SUCCESS)
        return a.code;
    unsigned room = addresses ? *count : 0;
    *count = (unsigned)a.numbers[0][0];
    return *count > room ? PT_NVML_INSUFFICIENT_SIZE : PT_NVML_SUCCESS;
}

int nvmlDeviceGetRemappedRows(struct pt_nvml_device *d, unsigned *correctable,
                              unsigned *uncorrectable, unsigned *pending, unsigned *failed) {
    struct answer a = ask_device("nvmlDeviceGetRemappedRows", d);
    if (a.code != PT_NVML_SUCCESS)
        return a.code;
    *correctable = (unsigned)a.numbers[0][0];
    *uncorrectable = (unsigned)a.numbers[0][1];
    *pending = (unsigned)a.numbers[0][2];
    *failed = (unsigned)a.numbers[0][3];
    return a.code;
}

int nvmlDeviceGetViolationStatus(struct pt_nvml_device *d, unsigned policy,
                                 struct pt_nvml_violation *v) {
    struct answer a = ask("nvmlDeviceGetViolationStatus", d->name, (int)policy);
    if (a.code == PT_NVML_SUCCESS)
        *v = (struct pt_nvml_violation){ 1, a.numbers[0][0] };
    return a.code;
}

/* nvmlDeviceGetFieldValues/ID answers for one field, value:type; without /ID for the call. */
int nvmlDeviceGetFieldValues(struct pt_nvml_device *d, int count, struct pt_nvml_field *f) {
    struct answer whole = ask("nvmlDeviceGetFieldValues", d->name, NOT_AN_INDEX);
    if (whole.code != PT_NVML_SUCCESS)
        return whole.code;
    for (int i = 0; i < count; i++) {
        struct answer a = ask("nvmlFieldValue", d->name, (int)f[i].id);
        f[i].result = a.code;
        if (a.code != PT_NVML_SUCCESS)
            continue;
        f[i].type = (unsigned)a.numbers[0][1];
        f[i].value.u64 = a.numbers[0][0];
        if (f[i].type == PT_NVML_DOUBLE)
            f[i].value.f64 = (double)a.numbers[0][0];
    }
    return PT_NVML_SUCCESS;
}

/* pid:time_us:sm:memory */
int nvmlDeviceGetProcessUtilization(struct pt_nvml_device *d, struct pt_nvml_process_sample *list,
                                    unsigned *count, unsigned long long since_us) {
    struct answer a = ask_device("nvmlDeviceGetProcessUtilization", d);
    if (a.code != PT_NVML_SUCCESS)
        return a.code;
    unsigned room = *count, n = 0;
    *count = (unsigned)a.entry_count;
    if (*count > room)
        return PT_NVML_INSUFFICIENT_SIZE;
    for (int i = 0; i < a.entry_count; i++)
        if (a.numbers[i][1] > since_us)
            list[n++] = (struct pt_nvml_process_sample){ .pid = (unsigned)a.numbers[i][0],
                                                         .time_us = a.numbers[i][1],
                                                         .sm = (unsigned)a.numbers[i][2],
                                                         .memory = (unsigned)a.numbers[i][3] };
    *count = n;
    return n > 0 ? PT_NVML_SUCCESS : PT_NVML_NOT_FOUND;
}

int nvmlDeviceGetMigDeviceHandleByIndex(struct pt_nvml_device *d, unsigned index,
                                        struct pt_nvml_device **instance) {
    struct answer a = ask("nvmlDeviceGetMigDeviceHandleByIndex", d->name, (int)index);
    if (a.code == PT_NVML_SUCCESS)
        *instance = device_at(d->gpu, (int)index);
    return a.code;
}

int nvmlEventSetCreate(struct pt_nvml_event_set **set) {
    struct answer a = ask("nvmlEventSetCreate", "*", NOT_AN_INDEX);
    if (a.code == PT_NVML_SUCCESS)
        *set = (struct pt_nvml_event_set *)lines;
    return a.code;
}

int nvmlEventSetFree(struct pt_nvml_event_set *set) {
    (void)set;
    return PT_NVML_SUCCESS;
}

int nvmlDeviceRegisterEvents(struct pt_nvml_device *d, unsigned long long types,
                             struct pt_nvml_event_set *set) {
    (void)set;
    struct answer a = ask_device("nvmlDeviceRegisterEvents", d);
    return types == PT_NVML_EVENT_XID ? a.code : PT_NVML_INVALID_ARGUMENT;
}

/* device:type:data */
int nvmlEventSetWait_v2(struct pt_nvml_event_set *set, struct pt_nvml_event *event,
                        unsigned timeout_ms) {
    (void)set;
    struct answer a = ask("nvmlEventSetWait", "*", NOT_AN_INDEX);
    if (timeout_ms > 0)
        return PT_NVML_INVALID_ARGUMENT;
    if (a.code == PT_NVML_SUCCESS)
        *event = (struct pt_nvml_event){ .device = device_at((int)a.numbers[0][0], NOT_AN_INDEX),
                                         .type = a.numbers[0][1],
                                         .data = a.numbers[0][2] };
    return a.code;
}

int nvmlGpmQueryDeviceSupport(struct pt_nvml_device *d, struct pt_nvml_gpm_support *support) {
    if (support->version != PT_NVML_GPM_VERSION)
        return PT_NVML_ARGUMENT_VERSION_MISMATCH;
    return get_u32("nvmlGpmQueryDeviceSupport", d, NOT_AN_INDEX, &support->is_supported);
}

int nvmlGpmSampleAlloc(struct pt_nvml_gpm_sample **sample) {
    struct answer a = ask("nvmlGpmSampleAlloc", "*", NOT_AN_INDEX);
    if (a.code == PT_NVML_SUCCESS)
        *sample = calloc(1, sizeof **sample);
    return a.code;
}

int nvmlGpmSampleFree(struct pt_nvml_gpm_sample *sample) {
    free(sample);
    return PT_NVML_SUCCESS;
}

int nvmlGpmSampleGet(struct pt_nvml_device *d, struct pt_nvml_gpm_sample *sample) {
    sample->device = d;
    return ask_device("nvmlGpmSampleGet", d).code;
}

int nvmlGpmMigSampleGet(struct pt_nvml_device *d, unsigned instance,
                        struct pt_nvml_gpm_sample *sample) {
    sample->device = device_at(d->gpu, (int)instance);
    return ask_device("nvmlGpmMigSampleGet", sample->device).code;
}

/* nvmlGpmMetric/ID answers for one metric, in thousandths. */
int nvmlGpmMetricsGet(struct pt_nvml_gpm_query *q) {
    if (q->version != PT_NVML_GPM_VERSION || !q->first || !q->second)
        return PT_NVML_ARGUMENT_VERSION_MISMATCH;
    struct answer whole = ask_device("nvmlGpmMetricsGet", q->second->device);
    for (unsigned i = 0; i < q->metric_count && whole.code == PT_NVML_SUCCESS; i++) {
        struct answer a = ask("nvmlGpmMetric", q->second->device->name, (int)q->metrics[i].id);
        q->metrics[i].result = a.code;
        if (a.code == PT_NVML_SUCCESS)
            q->metrics[i].value = (double)a.numbers[0][0] / 1000;
    }
    return whole.code;
}
#endif
