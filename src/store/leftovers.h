/* store/leftovers.h -- what killed recorders and exports leave in a directory of runs:
 *
 *     1374ca0c-bef8-41fb-96b3-5da966914eab.csv.tmp   a file that was being written
 *     1374ca0c-bef8-41fb-96b3-5da966914eab.ctl       the FIFO for marks
 *
 * Whoever writes a file holds a lock on it (flock), and a recorder reads its FIFO. */
#ifndef PT_STORE_LEFTOVERS_H
#define PT_STORE_LEFTOVERS_H

/* Removes those of runs that nobody writes or reads any more; other files stay. */
void pt_leftovers_remove(const char *directory);

#endif
