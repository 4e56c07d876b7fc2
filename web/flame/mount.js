/* The global name of the component. */
const api = {
    mount(element, data) {
        api.last = new FlameGraph(element, data);
        return api.last;
    },
    last: null,
    visibleFrames: () => api.last.visibleFrames(),
};
window.pitotFlame = api;
