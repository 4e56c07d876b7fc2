/* Container, service or job of a cgroup path; the last known component decides:
 *
 *     /docker/<id>                                             docker, cgroupfs driver
 *     /system.slice/docker-<id>.scope                          docker, systemd driver
 *     /default/<id>, nerdctl-<id>.scope                        containerd
 *     /machine.slice/libpod-<id>.scope                         podman
 *     /kubepods/burstable/pod<uid>/<id>                        Kubernetes, cgroupfs driver
 *     /kubepods.slice/kubepods-pod<uid>.slice/crio-<id>.scope  Kubernetes, systemd driver
 *     /system.slice/nginx.service, session-3.scope             systemd
 *     /slurm/uid_1000/job_42/step_0/task_0                     Slurm
 *     /lxc.payload.web, /lxc/web                               LXC
 *     /ecs/<task>/<id>                                         ECS
 */
#include "source/kernel/cgroup.h"

#include "base/attr.h"

#define ID_LENGTH 64 /* hex digits */

static size_t hex_length(struct pt_str s) {
    size_t n = 0;
    while (n < s.len && ((s.at[n] >= '0' && s.at[n] <= '9') || (s.at[n] >= 'a' && s.at[n] <= 'f')))
        n++;
    return n;
}

/* An id is alone or followed by a suffix (".scope", "-1"). */
static bool take_id(struct pt_str s, struct pt_str *id) {
    if (hex_length(s) != ID_LENGTH || (s.len > ID_LENGTH && !strchr(".-", s.at[ID_LENGTH])))
        return false;
    *id = (struct pt_str){ s.at, ID_LENGTH };
    return true;
}

/* The result of the components so far. */
struct path_state {
    struct pt_cgroup_identity *identity;
    struct pt_str component, parent;
    int depth; /* of the component; 1 = top */
    bool in_kubepods, in_slurm, in_ecs;
    const char *job; /* where job_42 starts */
};

static bool become(struct path_state *p, const char *runtime, struct pt_str id,
                   struct pt_str name) {
    p->identity->runtime = runtime;
    p->identity->id = id;
    p->identity->name = name;
    return true;
}

/* "pod<uid>" at the start or after a dash; the systemd driver writes dashes as underscores. */
static bool take_pod_uid(struct pt_str s, char *uid, size_t capacity) {
    if (pt_str_ends(s, PT_STR(".slice")))
        s.len -= sizeof ".slice" - 1;
    size_t start = s.len;
    for (size_t i = 0; i + 3 <= s.len; i++)
        if (memcmp(s.at + i, "pod", 3) == 0 && (i == 0 || s.at[i - 1] == '-'))
            start = i + 3;
    struct pt_str text = pt_str_skip(s, start);
    if (text.len < 32 || text.len >= capacity)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i] == '_' ? '-' : text.at[i];
        if (c != '-' && hex_length((struct pt_str){ &c, 1 }) == 0)
            return false;
        uid[i] = c;
    }
    uid[text.len] = 0;
    return true;
}

static bool match_pod(struct path_state *p) {
    char uid[sizeof p->identity->pod_uid];
    if (!p->in_kubepods || !take_pod_uid(p->component, uid, sizeof uid))
        return false;
    memcpy(p->identity->pod_uid, uid, sizeof uid);
    return become(p, "kubernetes", PT_STR(""), PT_STR(""));
}

/* Also with colons: "kubepods-pod<uid>.slice:cri-containerd:<id>" is what a systemd path
 * becomes under the cgroupfs driver. */
static bool match_prefix(struct path_state *p) {
    static const struct {
        const char *prefix, *runtime;
    } patterns[] = {
        { "docker", "docker" }, { "cri-containerd", "containerd" }, { "nerdctl", "containerd" },
        { "crio", "cri-o" },    { "libpod-payload", "podman" },     { "libpod", "podman" },
    };
    struct pt_str rest = p->component, id;
    const char *colon = memchr(rest.at, ':', rest.len);
    if (colon) {
        struct pt_str slice = { rest.at, (size_t)(colon - rest.at) };
        if (!take_pod_uid(slice, p->identity->pod_uid, sizeof p->identity->pod_uid))
            p->identity->pod_uid[0] = 0;
        rest = pt_str_skip(rest, slice.len + 1);
    }
    for (size_t i = 0; i < PT_COUNT(patterns); i++) {
        struct pt_str prefix = pt_str_from(patterns[i].prefix);
        if (rest.len > prefix.len && pt_str_starts(rest, prefix) &&
            strchr("-:", rest.at[prefix.len]) && take_id(pt_str_skip(rest, prefix.len + 1), &id))
            return become(p, patterns[i].runtime, id, PT_STR(""));
    }
    return false;
}

/* A component that is only an id: the parent directory names the runtime. */
static bool match_bare_id(struct path_state *p) {
    struct pt_str id;
    if (!take_id(p->component, &id) || id.len != p->component.len)
        return false;
    if (p->in_kubepods)
        return become(p, "kubernetes", id, PT_STR(""));
    if (p->in_ecs)
        return become(p, "ecs", id, p->parent);
    if (pt_str_eq(p->parent, PT_STR("docker")))
        return become(p, "docker", id, PT_STR(""));
    if (pt_str_eq(p->parent, PT_STR("libpod_parent")))
        return become(p, "podman", id, PT_STR(""));
    /* containerd: /<namespace>/<id>; docker --cgroup-parent looks the same deeper down. */
    return become(p, p->depth == 2 ? "containerd" : "container", id, PT_STR(""));
}

/* Directories with entries named by people. */
static bool match_named(struct path_state *p) {
    static const struct {
        const char *parent, *runtime;
    } folders[] = {
        { "lxc", "lxc" },
        { "lxc.payload", "lxc" },
        { "default", "containerd" },
        { "k8s.io", "containerd" },
    };
    struct pt_str payload = PT_STR("lxc.payload.");
    if (p->component.len > payload.len && pt_str_starts(p->component, payload)) {
        struct pt_str name = pt_str_skip(p->component, payload.len);
        return become(p, "lxc", name, name);
    }
    for (size_t i = 0; i < PT_COUNT(folders) && p->depth == 2; i++)
        if (pt_str_eq(p->parent, pt_str_from(folders[i].parent)))
            return become(p, folders[i].runtime, p->component, p->component);
    return false;
}

static bool has_number_after(struct pt_str s, struct pt_str prefix) {
    struct pt_str number = pt_str_skip(s, prefix.len);
    if (!pt_str_starts(s, prefix) || number.len == 0)
        return false;
    for (size_t i = 0; i < number.len; i++)
        if (number.at[i] < '0' || number.at[i] > '9')
            return false;
    return true;
}

/* The name is the piece of the path from the job on: "job_42/step_0". Steps may have
 * names: step_batch, step_extern. */
static bool match_slurm(struct path_state *p) {
    if (!p->in_slurm)
        return false;
    bool is_job = has_number_after(p->component, PT_STR("job_"));
    if (is_job)
        p->job = p->component.at;
    if (!p->job || (!is_job && !pt_str_starts(p->component, PT_STR("step_"))))
        return false;
    size_t length = (size_t)(p->component.at + p->component.len - p->job);
    return become(p, "slurm", PT_STR(""), (struct pt_str){ p->job, length });
}

static bool match_systemd(struct path_state *p) {
    struct pt_str s = p->component, machine = PT_STR("machine-"), scope = PT_STR(".scope");
    if (pt_str_starts(s, machine) && pt_str_ends(s, scope) && s.len > machine.len + scope.len) {
        struct pt_str name = { s.at + machine.len, s.len - machine.len - scope.len };
        return become(p, "machine", name, name);
    }
    struct pt_str user = { s.at, s.len - (pt_str_ends(s, PT_STR(".slice")) ? 6 : 0) };
    if (pt_str_ends(s, PT_STR(".service")) || pt_str_ends(s, scope) ||
        (user.len < s.len && has_number_after(user, PT_STR("user-"))))
        return become(p, "systemd", PT_STR(""), s);
    return false;
}

/* The helper that watches a container is not the container. */
static bool is_monitor(struct pt_str s) {
    return pt_str_starts(s, PT_STR("crio-conmon-")) || pt_str_starts(s, PT_STR("libpod-conmon-")) ||
           pt_str_starts(s, PT_STR("lxc.monitor"));
}

static bool match_component(struct path_state *p) {
    if (is_monitor(p->component))
        return false;
    return match_pod(p) || match_prefix(p) || match_bare_id(p) || match_named(p) ||
           match_slurm(p) || match_systemd(p);
}

static bool contains(struct pt_str s, const char *word) {
    return memmem(s.at, s.len, word, strlen(word)) != NULL;
}

void pt_cgroup_identify(struct pt_str path, struct pt_cgroup_identity *identity) {
    *identity =
        (struct pt_cgroup_identity){ .runtime = "cgroup", .id = PT_STR(""), .name = PT_STR("") };
    struct path_state p = { .identity = identity, .parent = PT_STR("") };
    while (pt_cgroup_component_next(&path, &p.component)) {
        p.depth++;
        p.in_kubepods |= contains(p.component, "kubepods");
        p.in_slurm |= pt_str_starts(p.component, PT_STR("slurm"));
        p.in_ecs |= pt_str_eq(p.component, PT_STR("ecs"));
        identity->is_entity = match_component(&p);
        p.parent = p.component;
    }
}

/* The component after `marker`, e.g. the id in /var/lib/docker/containers/<id>/hostname. */
static struct pt_str component_after(struct pt_str path, const char *marker) {
    const char *found = memmem(path.at, path.len, marker, strlen(marker));
    struct pt_str component = PT_STR("");
    if (!found)
        return component;
    struct pt_str rest = pt_str_skip(path, (size_t)(found - path.at) + strlen(marker));
    pt_cgroup_component_next(&rest, &component);
    return component;
}

/* A line of mountinfo inside a container; only files that runtimes mount there are looked at:
 *
 *     638 624 254:1 /var/lib/docker/containers/<id>/hostname /etc/hostname rw - ext4 ...
 *     700 690 8:1 /var/lib/kubelet/pods/<uid>/containers/<name>/1c2d /dev/termination-log ...
 */
static void learn_from_mount(struct pt_cgroup_identity *identity, struct pt_str root,
                             struct pt_str point) {
    static const struct {
        const char *marker, *runtime;
    } stores[] = {
        { "/docker/containers/", "docker" },
        { "/overlay-containers/", "podman" },
    };
    if (!pt_str_starts(point, PT_STR("/etc/")) && !pt_str_eq(point, PT_STR("/dev/termination-log")))
        return;
    for (size_t i = 0; i < PT_COUNT(stores); i++) {
        struct pt_str id = component_after(root, stores[i].marker);
        if (hex_length(id) == ID_LENGTH && id.len == ID_LENGTH && identity->id.len == 0) {
            identity->runtime = stores[i].runtime;
            identity->id = id;
        }
    }
    struct pt_str uid = component_after(root, "/kubelet/pods/");
    if (uid.len >= 32 && uid.len < sizeof identity->pod_uid)
        pt_str_copy(identity->pod_uid, sizeof identity->pod_uid, uid);
    struct pt_str name = component_after(root, "/containers/");
    if (uid.len > 0 && name.len > 0 && pt_str_eq(point, PT_STR("/dev/termination-log")))
        identity->name = name;
}

void pt_cgroup_identify_self(struct pt_scan mountinfo, struct pt_str hostname,
                             struct pt_cgroup_identity *identity) {
    *identity =
        (struct pt_cgroup_identity){ .runtime = "cgroup", .id = PT_STR(""), .name = PT_STR("") };
    bool is_container = false;
    struct pt_scan line;
    while (pt_scan_line(&mountinfo, &line)) {
        pt_scan_skip(&line, 3);
        struct pt_str root = pt_scan_word(&line), point = pt_scan_word(&line);
        if (line.failed)
            continue;
        is_container |=
            pt_str_eq(point, PT_STR("/")) && contains(pt_scan_rest(&line), " - overlay ");
        learn_from_mount(identity, root, point);
    }
    bool is_pod = identity->pod_uid[0] != 0;
    if (identity->id.len == 0 && is_container && !is_pod && hostname.len == 12 &&
        hex_length(hostname) == 12) {
        identity->runtime = "container";
        identity->id = hostname;
    }
    /* The store of podman is CRI-O's too, and its id is the pod's sandbox there. */
    if (is_pod)
        identity->runtime = "kubernetes";
    identity->is_entity = is_pod || identity->id.len > 0;
}
