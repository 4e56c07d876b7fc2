/* Which columns share a chart, and how their lines are told apart. */
const STACKS_MOST = 4, FAMILY_LINES_MOST = 16;
const DASHES = [undefined, [4, 3], [1, 3], [8, 3], [8, 3, 1, 3]];
const IMPORTANCE = ['headline', 'detail', 'raw'];

/* What is drawn together: the columns of a family, or a column without one. The most important are
 * the first. `places` are indexes of the columns. */
function groupsOf(columns) {
    const groups = new Map();
    columns.forEach((column, place) => {
        const title = column.family || column.title;
        if (!groups.has(title))
            groups.set(title, { title, places: [], isStacked: column.is_stacked,
                importance: IMPORTANCE.length });
        const group = groups.get(title);
        group.places.push(place);
        group.importance = Math.min(group.importance, IMPORTANCE.indexOf(column.importance));
    });
    return [...groups.values()].sort((a, b) => a.importance - b.importance)
        .map(group => ({ ...group, isRaw: IMPORTANCE[group.importance] === 'raw' }));
}

/* What the titles of all columns begin with, up to a comma: "CPU, user" and "CPU, kernel". */
function commonStart(titles) {
    const parts = titles.map(title => title.split(', '));
    const isCommon = i => parts.every(one => i < one.length - 1 && one[i] === parts[0][i]);
    let count = 0;
    while (titles.length > 1 && isCommon(count))
        count++;
    return parts[0].slice(0, count).map(part => part + ', ').join('');
}

/* How columns are told apart: by their titles; beside the names of rows by something shorter. */
function columnLabels(columns, isShort) {
    const start = commonStart(columns.map(column => column.title));
    const hasHeadings = isShort && columns.every(column => column.heading);
    return columns.map(({ title, heading }) => hasHeadings ? heading : title.slice(start.length));
}

/* Rows differ by colour, columns of a row by dashes; with one row, columns differ by colour. */
function lineLook(rowCount, row, column) {
    return rowCount === 1 ? { color: column } :
        { color: row, dash: DASHES[column % DASHES.length] };
}
