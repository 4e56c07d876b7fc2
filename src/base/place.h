/* base/place.h -- where a file may be created: output never goes through links of others and never
 * replaces a file that Pitot did not make.
 *
 *     struct pt_place p;
 *     rc = pt_place_open(&p, "runs/report.html");     the directory, entered step by step
 *     fd = pt_place_create(&p);                       a new file under a name nobody can guess
 *     rc = pt_place_publish(&p);                      it gets its name, by the rule below
 *     pt_place_close(&p);
 *
 * The rule: an existing file is replaced only if it is a regular file of this user with one name,
 * and made by Pitot: it is named after a run, or has the attribute user.pitot, or says "pitot" in
 * its first bytes, or is empty. A symbolic link at its name is never followed. Links in the
 * directories before it are followed as the kernel does with fs.protected_symlinks=1: not if
 * another user planted them in a directory like /tmp.
 *
 * Nothing here allocates. Functions return 0 or -errno; -ELOOP: a link, -EEXIST: not made by
 * Pitot. */
#ifndef PT_BASE_PLACE_H
#define PT_BASE_PLACE_H

#include "base/attr.h"
#include "base/err.h"

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

/* Files of runs are for their owner alone: set for root, with -p, and when made from such a run. */
extern bool pt_files_are_private;
mode_t pt_file_mode(void); /* for open(): the umask applies */
mode_t pt_directory_mode(void);
/* Sets it if a run's journal is not readable for others. */
void pt_files_follow(const char *journal);

struct pt_place {
    int directory; /* O_PATH */
    char name[NAME_MAX + 1], temporary[NAME_MAX + 1];
};

int pt_place_open(struct pt_place *p, const char *path) PT_MUST_CHECK;
void pt_place_close(struct pt_place *p);

/* What is there: 0 if a new file can get the name, by the rule; 1 if it is written in place (a FIFO
 * of this user or a device). */
int pt_place_look(const struct pt_place *p) PT_MUST_CHECK;
/* Creates the temporary file, locks it (store/leftovers.h) and returns its descriptor. */
int pt_place_create(struct pt_place *p) PT_MUST_CHECK;
/* Opens what pt_place_look() called 1. */
int pt_place_open_special(const struct pt_place *p) PT_MUST_CHECK;
/* Renames the temporary file; removes it if that fails. */
int pt_place_publish(struct pt_place *p) PT_MUST_CHECK;
void pt_place_remove(struct pt_place *p);

/* Renames without replacing anything: -EEXIST. */
int pt_place_move(const char *from, const char *to) PT_MUST_CHECK;

/* Why a function above failed, for "cannot create PATH: ...". */
const char *pt_place_words(int rc);

#endif
