/* profile/python.h -- placeholder */
#ifndef PT_PROFILE_PYTHON_H
#define PT_PROFILE_PYTHON_H
struct pt_pythons;
#endif
