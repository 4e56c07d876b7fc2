/* A plugin that measures itself; its host knows nothing of libpitot. */
#include <pitot/pitot.h>
#include <stddef.h>

PT_API void plugin_work(void);

void plugin_work(void) {
    PT_SPAN(span, "plugin");
    pt_counter_add(pt_counter_new("plugin_calls", "", "", NULL), 1);
}
