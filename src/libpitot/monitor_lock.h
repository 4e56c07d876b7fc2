/* libpitot/monitor_lock.h -- the one lock of settings, steps, costs and monitors.
 *
 * fork() waits for it, so that a child always finds it free. No function of the probe, the ticker
 * or the program is called while it is held: they have their own locks. */
#ifndef PT_LIBPITOT_MONITOR_LOCK_H
#define PT_LIBPITOT_MONITOR_LOCK_H

void pt_monitor_lock(void);
void pt_monitor_unlock(void);

#endif
