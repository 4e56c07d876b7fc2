/* tests/unit/tree_fixture.h -- each test has an empty temporary directory of its own: `tree`. */
#ifndef PT_TEST_TREE_FIXTURE_H
#define PT_TEST_TREE_FIXTURE_H

#include "tree.h"

static struct tree tree;

static int make_tree(void **state) {
    (void)state;
    tree_make(&tree);
    return 0;
}

static int remove_tree(void **state) {
    (void)state;
    tree_remove(&tree);
    return 0;
}

#define WITH_TREE(function, sentence) \
    { sentence, function, make_tree, remove_tree, NULL }

#endif
