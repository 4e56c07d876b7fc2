/* Loaded while the profile is being taken: its code calls back into the program. */
void plugin_run(void (*call)(void));

static volatile int sink;

__attribute__((visibility("default"))) void plugin_run(void (*call)(void)) {
    call();
    sink++;
}
