/* The newest value of every number: what /api/schema names and /api/stream tells. */
const main = document.getElementById('dashboard');
const cells = new Map(); // table/row/column -> element

function drawnColumns(table) {
  return table.columns.filter((column) => 'base_unit' in column);
}

function unitOf(column) {
  return column.base_unit + (column.is_rate ? '/s' : '');
}

function element(name, text) {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

function setCell(id, value) {
  cells.get(id).children[1].textContent = value ?? '–';
}

function showRow(table, [number, key, , values]) {
  drawnColumns(table).forEach((column, place) => {
    const id = `${table.name}/${number}/${place}`;
    if (!cells.has(id)) {
      const line = document.createElement('tr');
      line.append(element('td', `${table.name} ${key} ${column.name}`), element('td', ''),
        element('td', unitOf(column)));
      main.querySelector('tbody').append(line);
      cells.set(id, line);
    }
    setCell(id, values[place]);
  });
}

function show(schema, sample) {
  for (const table of schema.tables) {
    const news = sample.tables[table.name];
    if (!news)
      continue;
    news.rows.forEach((row) => showRow(table, row));
    for (const [number, ...pairs] of news.changes || [])
      for (let i = 0; i < pairs.length; i += 2)
        setCell(`${table.name}/${number}/${pairs[i]}`, pairs[i + 1]);
  }
}

async function start() {
  const schema = await (await fetch('api/schema')).json();
  const table = document.createElement('table');
  table.append(document.createElement('tbody'));
  main.replaceChildren(element('h1', 'pitot'), table);
  const stream = new EventSource('api/stream');
  stream.addEventListener('sample', (event) => show(schema, JSON.parse(event.data)));
}

start();
