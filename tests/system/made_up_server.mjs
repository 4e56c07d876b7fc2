/* A server with the dashboard of another one and tables that no Pitot has, whose samples come as
 * fast as one likes. */
import { createServer } from 'node:http';

const PAGE_PARTS = ['/', '/dashboard.css', '/dashboard.js'];

export class MadeUpServer {
    /* `tables`, `figures`: as in /api/schema */
    constructor(origin, tables, figures = []) {
        Object.assign(this, { origin, tables, figures });
        this.readers = new Set();
        this.time = Date.now() - 3600e3;
        this.server = createServer((request, response) => this.answer(request, response));
    }

    listen() {
        return new Promise(resolve => this.server.listen(0, '127.0.0.1', () =>
            resolve(`http://127.0.0.1:${this.server.address().port}/`)));
    }

    async answer(request, response) {
        const { pathname } = new URL(request.url, this.origin);
        const json = value => {
            response.setHeader('Content-Type', 'application/json');
            response.end(JSON.stringify(value));
        };
        if (PAGE_PARTS.includes(pathname)) {
            const part = await fetch(new URL(pathname, this.origin));
            for (const name of ['content-type', 'content-security-policy'])
                response.setHeader(name, part.headers.get(name));
            response.end(await part.text());
        } else if (pathname === '/api/stream') {
            response.setHeader('Content-Type', 'text/event-stream');
            response.write(': welcome\n\n');
            response.isNew = true;
            this.readers.add(response);
            response.on('close', () => this.readers.delete(response));
        } else {
            json({ '/api/schema': { version: 'made up', tables: this.tables,
                figures: this.figures },
                '/api/alerts': { rules: [], states: [], changes: [] },
                '/api/runs': { runs: [], count: 0 },
                '/api/history': { from: 0, to: 0, step: 1000, count: 0, things: [] } }[pathname] ?? {});
        }
    }

    /* Sends a sample to all readers; `valueOf(table, row, place)`, `figures`: { name: value }. */
    publish(stepMs, rowCount, valueOf, figures = {}) {
        this.time += stepMs;
        for (const reader of this.readers) {
            const tables = {};
            for (const table of this.tables)
                tables[table.name] = reader.isNew ? { rows: this.rows(table, rowCount, valueOf) } :
                    { rows: [], changes: this.changes(table, rowCount, valueOf) };
            const sample = { time: this.time, is_whole: reader.isNew, figures, tables };
            reader.write(`event: sample\ndata: ${JSON.stringify(sample)}\n\n`);
            reader.isNew = false;
        }
    }

    drawn(table) {
        return table.columns.filter(column => 'base_unit' in column);
    }

    rows(table, rowCount, valueOf) {
        return Array.from({ length: rowCount }, (_, row) => [row, `thing${row}`,
            { [table.columns[0].name]: `thing${row}` },
            this.drawn(table).map((_, place) => valueOf(table, row, place))]);
    }

    changes(table, rowCount, valueOf) {
        return Array.from({ length: rowCount }, (_, row) => [row,
            ...this.drawn(table).flatMap((_, place) => [place, valueOf(table, row, place)])]);
    }

    close() {
        this.server.close();
        this.server.closeAllConnections();
    }
}
