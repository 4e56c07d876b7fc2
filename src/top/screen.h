/* top/screen.h -- a terminal that shows a canvas and gives keys. ncurses does the work, in the
 * module "terminal"; there is one terminal, so there is no object.
 *
 * Signals are the caller's: it has SIGINT, SIGTERM, SIGTSTP and SIGWINCH blocked in all threads. A
 * program that crashes in between leaves the terminal as it was. */
#ifndef PT_TOP_SCREEN_H
#define PT_TOP_SCREEN_H

#include "base/module.h"
#include "top/canvas.h"

#define PT_SCREEN_VERSION 1

struct pt_screen {
    /* 0 or -errno with words. */
    int (*open)(bool with_colour, struct pt_err *err);
    void (*close)(void);
    /* Gives the terminal back for a while, and takes it again. */
    void (*suspend)(void);
    void (*resume)(void);
    /* As the terminal is now. */
    void (*size)(int *rows, int *columns);
    void (*show)(const struct pt_canvas *c);
    /* See enum pt_key; PT_KEY_NONE: none was pressed. */
    int (*key)(void);
};

/* The screen of the module, not yet open. 0 or -errno with words. */
int pt_screen_load(const struct pt_screen **screen, struct pt_err *err) PT_MUST_CHECK;

#endif
