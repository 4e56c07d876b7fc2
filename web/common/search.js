/* Hides charts that do not contain all words. Charts with `isOnRequest` are shown only if searched
 * for. */
function search(root) {
    const field = make('input', { type: 'search', placeholder: 'Filter charts ( / )',
        'aria-label': 'Filter charts' });
    field.addEventListener('input', () => {
        const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
        for (const chart of root.querySelectorAll('.pr-chart'))
            chart.hidden = words.length === 0 ? 'isOnRequest' in chart.dataset :
                !words.every(word => chart.dataset.words.includes(word));
        root.classList.toggle('pr-searching', words.length > 0);
        for (const one of root.querySelectorAll('.pr-section'))
            one.classList.toggle('pr-empty', words.length > 0 &&
                !one.querySelector('.pr-chart:not([hidden])'));
    });
    document.addEventListener('keydown', event => {
        const isElsewhere = document.activeElement.closest('input, select, .pr-flame');
        if (event.key === '/' && !isElsewhere) {
            field.focus();
            event.preventDefault();
            event.stopImmediatePropagation(); // the flame graph has its own search
        }
    }, true);
    return field;
}
