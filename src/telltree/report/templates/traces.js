// What traces.py wrote, read again. A record's points are spread over [0, 1]: each step has a cell of its own.
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const CODE = new Map([...ALPHABET].map((character, code) => [character, code]));
const [FINEST, LOW, HIGH, GAP] = [4092, 4093, 4094, 4095];

const length = (text) => text.length / 2;
const codes = (text) =>
    Array.from({ length: length(text) }, (_, i) => CODE.get(text[2 * i]) * 64 + CODE.get(text[2 * i + 1]));

// Numbers, ±Infinity, or NaN where a value is missing.
function values(trace) {
    return codes(trace.v).map((code) => {
        if (code === GAP) return NaN;
        if (code === LOW) return -Infinity;
        if (code === HIGH) return Infinity;
        return trace.lo * (1 - code / FINEST) + trace.hi * (code / FINEST);
    });
}

const isLine = (trace) => typeof trace === 'object';

// Where the points of a line, or the cells of a band, are: their middles in [0, 1].
function places(record, count) {
    const width = record.w || 1;
    const even = (i) => {
        if (width === 1) return i;
        const cells = Math.ceil(record.s / width);
        return Math.min(record.s - 1, count > cells ? (i * width) / 2 + width / 4 : (i + 0.5) * width);
    };
    const uneven = record.u ? codes(record.u) : null;
    const share = (i) => {
        if (!uneven) return record.s > 1 ? even(i) / (record.s - 1) : 0;
        return uneven[Math.min(uneven.length - 1, uneven.length > count ? 2 * i : i)] / FINEST;
    };
    return Array.from({ length: count }, (_, i) => (0.5 + share(i) * (record.s - 1)) / record.s);
}

const atStep = (record, step, time) => {
    const [first, last] = record.t || [0, record.s - 1];
    const share = last > first ? ((record.t ? time : step) - first) / (last - first) : 0;
    return (0.5 + share * (record.s - 1)) / record.s;
};

// Where a step is, in [0, 1]; and the step nearest to a place.
function placeOf(record, step) {
    if (!record.u) return (step + 0.5) / record.s;
    return places(record, length(record.u))[record.w ? Math.floor((2 * step) / record.w) : step];
}

function stepAt(record, place) {
    if (!record.u) return Math.min(record.s - 1, Math.floor(place * record.s));
    const middles = places(record, length(record.u));
    const nearest = nearestTo(middles, place);
    return Math.min(record.s - 1, record.w ? Math.floor((nearest * record.w) / 2) : nearest);
}

const nearestTo = (middles, place) =>
    middles.reduce((best, middle, i) => (Math.abs(middle - place) < Math.abs(middles[best] - place) ? i : best), 0);

// The places where one cell of a band ends and the next begins.
function edges(middles) {
    const inner = middles.slice(1).map((place, i) => (place + middles[i]) / 2);
    return [0, ...inner, 1];
}

const duration = (record) =>
    record.t ? Math.max(record.t[1] - record.t[0], 0) * (record.s / Math.max(record.s - 1, 1)) : record.s;

// How far down a value is drawn, of 100; what is infinite lies on the edge. Halves, because a range may overflow.
function heightOf(value, low, high) {
    if (!Number.isFinite(value)) return value > 0 ? 0 : 100;
    return high > low && Number.isFinite(low)
        ? 98 - 96 * Math.min(1, Math.max(0, (value / 2 - low / 2) / (high / 2 - low / 2)))
        : 50;
}

// A line as an SVG path through [0, 1] × [low, high]; it breaks where values are missing.
function linePath(record, trace, low, high, across = 1) {
    const found = values(trace);
    const middles = places(record, found.length);
    const height = (value) => heightOf(value, low, high);
    let path = '';
    let alone = '';
    found.forEach((value, i) => {
        if (Number.isNaN(value)) return;
        const point = `${(1000 * middles[i] * across).toFixed(1)} ${height(value).toFixed(1)}`;
        const before = i > 0 && !Number.isNaN(found[i - 1]);
        if (!before && !(i + 1 < found.length && !Number.isNaN(found[i + 1]))) alone += `M${point}h0`;
        else path += (before ? 'L' : 'M') + point;
    });
    return [draw('path', { class: 'plot-line', d: path }), alone && draw('path', { class: 'plot-dot', d: alone })];
}

// A band as rectangles, one for each run of equal cells.
function bandCells(record, text, column, across = 1) {
    const ends = edges(places(record, text.length));
    const cells = [];
    for (let from = 0; from < text.length;) {
        let to = from + 1;
        while (to < text.length && text[to] === text[from]) to += 1;
        const shape = {
            x: 1000 * ends[from] * across,
            y: 10,
            width: 1000 * (ends[to] - ends[from]) * across,
            height: 80,
        };
        const look = cellLook(text[from], column);
        if (look) cells.push(draw('rect', { ...shape, ...look }));
        from = to;
    }
    return cells;
}

// Levels look unlike the parts of the target.
const levelLook = (code) => code + Math.min(DATA.parts.length, COLOURS.length);

function cellLook(character, column) {
    if (character === '.') return null;
    if (character === '*') return { class: 'cell-mixed' };
    if (character === '!') return { class: 'cell-other' };
    const code = CODE.get(character);
    if (!column || column.type === 'Boolean') return { class: code ? 'cell-true' : 'cell-false' };
    return { class: 'cell-level', fill: fillOf(levelLook(code)) };
}

function cellWords(character, column) {
    if (character === '.' || character === undefined) return 'missing';
    if (character === '*') return 'changing';
    if (character === '!') return 'another';
    const code = CODE.get(character);
    return !column || column.type === 'Boolean' ? (code ? 'true' : 'false') : column.levels[code];
}

// The value of a column at a place in [0, 1], in words.
function wordsAt(record, trace, column, place) {
    const list = isLine(trace) ? values(trace) : [...trace];
    const nearest = nearestTo(places(record, list.length), place);
    if (!isLine(trace)) return cellWords(list[nearest], column);
    return valueWords(list[nearest], column, trace);
}

function valueWords(value, column, trace) {
    if (Number.isNaN(value)) return 'missing';
    if (!Number.isFinite(value)) return value > 0 ? '∞' : '−∞';
    return `${said(asKept(value, trace))}${column.unit ? ` ${column.unit}` : ''}`;
}

// A value in the digits that a trace keeps of it: no more, for those were never told, and no less.
function asKept(value, { lo, hi }) {
    if (!(hi / 2 - lo / 2 > 0)) return value;
    const finest = 10 ** Math.ceil(Math.log10((2 * (hi / 2 - lo / 2)) / FINEST));
    const near = Number((Math.round(value / finest) * finest).toPrecision(12));
    return Number.isFinite(near) ? near : value;
}
