/* Loads a plugin, calls it from a thread, unloads it, again and again.
 *
 *     library_host PLUGIN ROUNDS */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

static void *work(void *plugin) {
    void (*function)(void) = (void (*)(void))dlsym(plugin, "plugin_work");
    if (!function)
        exit(1);
    function();
    return NULL;
}

int main(int argument_count, char **arguments) {
    if (argument_count < 3)
        return 2;
    for (long i = strtol(arguments[2], NULL, 10); i > 0; i--) {
        pthread_t thread;
        void *plugin = dlopen(arguments[1], RTLD_NOW);
        if (!plugin || pthread_create(&thread, NULL, work, plugin))
            return 1;
        work(plugin);
        pthread_join(thread, NULL);
        dlclose(plugin);
    }
    return 0;
}
