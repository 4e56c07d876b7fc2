/* Light, dark or system theme. Pages opened from disk may have no storage. */
const theme = {
    read() {
        try {
            return localStorage.getItem('pitot-theme') || 'auto';
        } catch {
            return 'auto';
        }
    },
    keep(name) {
        try {
            localStorage.setItem('pitot-theme', name);
        } catch {
            /* the theme then applies to this page only */
        }
    },
    apply(name) {
        const isDark = name === 'dark' ||
            (name === 'auto' && matchMedia('(prefers-color-scheme: dark)').matches);
        document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
    },
};

function themeButton(restyle) {
    const names = ['auto', 'light', 'dark'];
    let name = theme.read();
    const button = make('button', { type: 'button', onclick: () => {
        name = names[(names.indexOf(name) + 1) % names.length];
        theme.keep(name);
        apply();
    } });
    const apply = () => {
        theme.apply(name);
        button.textContent = 'Theme: ' + name;
        restyle();
    };
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', apply);
    window.addEventListener('beforeprint', () => {
        document.documentElement.dataset.theme = 'light';
        restyle();
    });
    window.addEventListener('afterprint', apply);
    theme.apply(name);
    button.textContent = 'Theme: ' + name;
    return button;
}
