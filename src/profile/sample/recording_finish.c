/* Finishes a recording after sampling. */
#include "profile/sample/recording.h"

#include "profile/model/classify.h"
#include "profile/sample/gil_wait.h"
#include "profile/sample/symbolize.h"

#include <stdio.h>

static void add_word(char *into, size_t capacity, const char *between, const char *word) {
    size_t used = strlen(into);
    snprintf(into + used, capacity - used, "%s%s", used ? between : "", word);
}

static void describe_processes(struct pt_profile_meta *meta, const pid_t *pids, size_t count) {
    char word[32];
    meta->command[0] = 0;
    for (size_t i = 0; i < count; i++) {
        snprintf(word, sizeof word, i ? "%d" : "pid %d", (int)pids[i]);
        add_word(meta->command, sizeof meta->command, ", ", word);
    }
}

void pt_recording_finish(struct pt_recording *r, char *const *command, const pid_t *pids,
                         size_t count) {
    struct pt_profile *p = &r->profile;
    pt_symbolize(r);
    pt_classify(p, !r->is_off_cpu);
    if (r->is_off_cpu)
        pt_gil_wait_mark(p);
    if (command)
        pt_profile_set_command(&p->meta, command);
    else
        describe_processes(&p->meta, pids, count);
}
