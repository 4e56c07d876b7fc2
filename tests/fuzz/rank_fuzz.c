/* Any bytes as the notes of a run that others wrote: its static information, its ranks, the cause
 * of its end, its settings, its subject. */
#include "analyze/death.h"
#include "analyze/setting.h"
#include "store/rank.h"
#include "store/subject.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = pt_malloc(size + 1);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = 0;
    char names[4][16] = { "static", PT_RANK_NOTE, PT_CAUSE_NOTE, PT_SUBJECT_NOTE };
    struct pt_journal_note notes[PT_COUNT(names)];
    for (size_t i = 0; i < PT_COUNT(names); i++)
        notes[i] = (struct pt_journal_note){ .key = names[i], .text = text, .text_len = size };
    struct pt_journal_reader reader = { .notes = notes, .note_count = PT_COUNT(names) };

    struct pt_rank_identity identity;
    pt_rank_identify(&identity, &reader);
    assert(strnlen(identity.host, sizeof identity.host) < sizeof identity.host);
    struct pt_ranks ranks;
    pt_ranks_read(&ranks, &reader);
    for (size_t i = 0; i < ranks.count; i++)
        (void)pt_ranks_is_first(&ranks, i);
    assert(ranks.count <= PT_RANKS_MAX);
    pt_ranks_release(&ranks);
    struct pt_cause cause;
    pt_cause_read(&cause, &reader);
    assert(pt_cause_name(cause.kind));
    struct pt_subject subject;
    char said[PT_SUBJECT_TEXT];
    pt_subject_read(&subject, &reader);
    pt_subject_say(&subject, "Command: the command waits", said, sizeof said);
    assert(strlen(said) < sizeof said);
    struct pt_settings settings;
    pt_settings_read(&settings, (struct pt_str){ text, size });
    pt_settings_release(&settings);
    pt_free(text);
    return 0;
}
