/* top/screen.h -- a terminal that shows a canvas and reads keys, by ncurses in the module
 * "terminal". There is one terminal, so there is no object.
 *
 * The caller handles signals: it blocks SIGINT, SIGTERM, SIGTSTP and SIGWINCH in all threads. The
 * terminal is restored also if the program crashes. */
#ifndef PT_TOP_SCREEN_H
#define PT_TOP_SCREEN_H

#include "base/module.h"
#include "top/canvas.h"

#define PT_SCREEN_VERSION 1

struct pt_screen {
    /* 0 or -errno with a message. */
    int (*open)(bool with_colour, struct pt_err *err);
    void (*close)(void);
    /* Restores the terminal for a while, then takes it again. */
    void (*suspend)(void);
    void (*resume)(void);
    /* The current size of the terminal. */
    void (*size)(int *rows, int *columns);
    void (*show)(const struct pt_canvas *c);
    /* See enum pt_key; PT_KEY_NONE: no key was pressed. */
    int (*key)(void);
};

#endif
