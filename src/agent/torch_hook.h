/* agent/torch_hook.h -- src/agent/torch_hook.py, which is put into the command's Python. */
#ifndef PT_AGENT_TORCH_HOOK_H
#define PT_AGENT_TORCH_HOOK_H

#define PT_TORCH_HOOK_FILE     "sitecustomize.py"
#define PT_TORCH_HOOK_VARIABLE "PITOT_TORCH_TRACE"

extern const char pt_torch_hook[];

#endif
