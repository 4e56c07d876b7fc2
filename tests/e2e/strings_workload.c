/* A program that names spans, their texts and labels of counters by the strings of a file.
 *
 *     strings_workload FILE      the strings end with a zero byte; at most 60 bytes each */
#include <pitot/pitot.h>
#include <stdio.h>
#include <string.h>

#define STRINGS_MAX 64

/* As the text format of Prometheus has it. */
static void write_label(char into[256], const char *value) {
    char *at = into + snprintf(into, 256, "value=\"");
    for (; *value; value++) {
        if (*value == '"' || *value == '\\' || *value == '\n')
            *at++ = '\\';
        *at++ = *value == '\n' ? 'n' : *value;
    }
    memcpy(at, "\"", 2);
}

int main(int argc, char **argv) {
    static char text[16384];
    static pt_name names[STRINGS_MAX];
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (!file)
        return 1;
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    int count = 0;
    for (const char *s = text; s < text + length && count < STRINGS_MAX; s += strlen(s) + 1) {
        pt_name *name = &names[count++];
        char label[256];
        pt_span span = pt_span_begin(pt_name_once(name, s));
        pt_span_set_text(&span, *name);
        pt_span_end(&span);
        write_label(label, s);
        pt_counter_add(pt_counter_new("strings", "", "One for each string", label), 1);
    }
    return 0;
}
