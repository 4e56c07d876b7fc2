/* Light, dark and print themes. */
Object.assign(FlameGraph.prototype, {
    nextTheme() {
        const order = ['auto', 'light', 'dark'];
        const theme = order[(order.indexOf(this.theme) + 1) % order.length];
        keepTheme(theme);
        this.applyTheme(theme);
    },

    applyTheme(theme) {
        const isDark = theme === 'dark' ||
            (theme === 'auto' && matchMedia('(prefers-color-scheme: dark)').matches);
        this.theme = theme;
        document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
        this.themeButton.textContent = 'Theme: ' + theme;
        this.palette = new Palette(this.root, this.model);
        this.nameWidths = new Map();
        if (this.parts) {
            this.draw();
            this.drawTimeline();
        }
    },

    print(isStarting) {
        this.isPrinting = isStarting;
        this.root.classList.toggle('pf-printing', isStarting);
        document.documentElement.dataset.theme = 'light';
        this.palette = new Palette(this.root, this.model);
        this.draw();
        this.drawTimeline();
        if (!isStarting)
            this.applyTheme(this.theme);
    },
});

/* Pages opened from disk may have no storage. */
function readTheme() {
    try {
        return localStorage.getItem('pitot-theme') || 'auto';
    } catch {
        return 'auto';
    }
}

function keepTheme(theme) {
    try {
        localStorage.setItem('pitot-theme', theme);
    } catch {
        /* the theme then applies to this page only */
    }
}
