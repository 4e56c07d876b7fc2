/* gputrace/torch_hook.h -- src/gputrace/torch_hook.py, which runs in the command's Python. */
#ifndef PT_GPUTRACE_TORCH_HOOK_H
#define PT_GPUTRACE_TORCH_HOOK_H

#define PT_TORCH_HOOK_FILE     "sitecustomize.py"
#define PT_TORCH_HOOK_VARIABLE "PITOT_TORCH_TRACE"

extern const char pt_torch_hook[];

#endif
