// The traces of one record: lanes that share one time axis.
function laneOf(name, plot, extra = null) {
    const value = make('span', { class: 'lane-value' });
    const lane = make(
        'div',
        { class: 'lane' },
        make('div', { class: 'lane-name' }, make('span', { class: 'data', title: name }, name), value),
        plot,
    );
    return { lane, value, extra };
}

const area = (label, ...children) =>
    draw('svg', { viewBox: '0 0 1000 100', preserveAspectRatio: 'none', role: 'img', 'aria-label': label }, children);

function columnLane(record, number, marks, pieces) {
    const column = DATA.columns[number];
    const trace = record.x[number];
    const plot = isLine(trace) ? linePlot(record, trace, column, marks, pieces) : bandPlot(record, trace, column);
    const lane = laneOf(columnWords(number), plot);
    lane.tell = (place) => {
        lane.value.textContent = wordsAt(record, trace, { ...column, unit: '' }, place);
    };
    return lane;
}

// Thresholds that the way asks about are part of the picture, so they stretch its range.
function linePlot(record, trace, column, marks, pieces) {
    const known = trace.lo === null ? marks : [trace.lo, trace.hi, ...marks];
    const [low, high] = known.length ? [Math.min(...known), Math.max(...known)] : [0, 1];
    const height = (value) => heightOf(value, low, high);
    const label =
        trace.lo === null
            ? `${column.words}: no finite value`
            : `${column.words} between ${valueWords(trace.lo, column, trace)} and ${valueWords(trace.hi, column, trace)}`;
    const names = marks.map((mark) => {
        const name = make('span', { class: 'threshold-name' }, said(mark));
        name.style.top = `${Math.max(14, height(mark))}%`;
        return name;
    });
    return make(
        'div',
        { class: 'plot line' },
        area(
            label,
            pieces.map(([from, to]) => draw('path', { class: 'piece', d: `M${from} 0H${to}V100H${from}Z` })),
            marks.map((mark) => draw('path', { class: 'threshold', d: `M0 ${height(mark)}H1000` })),
            linePath(record, trace, low, high),
        ),
        make('span', { class: 'most', 'aria-hidden': 'true' }, said(high, 5)),
        high > low && make('span', { class: 'least', 'aria-hidden': 'true' }, said(low, 5)),
        names,
    );
}

function bandPlot(record, text, column) {
    const kinds = [...new Set(text)].map((character) => cellWords(character, column));
    return make(
        'div',
        { class: 'plot band' },
        area(`${column.words}: ${kinds.slice(0, 8).join(', ')}`, bandCells(record, text, column)),
    );
}

function levelLegend(record, number) {
    const column = DATA.columns[number];
    const trace = record.x[number];
    if (column.type !== 'categorical') return null;
    const met = [...new Set(trace)].filter((character) => CODE.has(character)).map((character) => CODE.get(character));
    return make(
        'div',
        { class: 'level-line' },
        make(
            'ul',
            { class: 'levels' },
            met.slice(0, 12).map((code) => levelItem(column.levels[code], code)),
        ),
    );
}

const levelItem = (level, code) =>
    make('li', { class: 'data', title: level }, swatch(levelLook(code)), short(level, 40));

// Where what a question looks for is true, step by step; and how often so far, if it is counted.
function lookLanes(record, turn, order) {
    const node = DATA.nodes[turn.node];
    return turn.looks.map((text, i) => {
        const total = turn.counts && turn.counts[i];
        const lane = laneOf(
            `${order}. ${node.looks[i]}${total ? ` (${total})` : ''}`,
            make(
                'div',
                { class: 'plot strip' },
                area(
                    `${node.looks[i]}: ${[...text].some((c) => c !== 'A') ? 'true at some steps' : 'true at no step'}`,
                    bandCells(record, text, null),
                ),
            ),
        );
        lane.tell = (place) => {
            const now = wordsAt(record, text, null, place);
            lane.value.textContent = total && !record.w ? `${now}, ${soFar(record, text, place)} so far` : now;
        };
        return lane;
    });
}

function soFar(record, text, place) {
    const until = nearestTo(places(record, text.length), place);
    return [...text.slice(0, until + 1)].filter((character) => CODE.get(character) === 1).length;
}

function decimal(raw) {
    const power = 10 ** Math.floor(Math.log10(raw));
    return [1, 2, 5, 10].map((k) => k * power).find((size) => size >= raw);
}

function ticks(first, last, stepOf = decimal) {
    if (!(last > first)) return [first];
    const step = stepOf((last - first) / 6);
    const found = [];
    for (let k = Math.ceil(first / step - 1e-9); k * step <= last + step * 1e-9; k += 1)
        found.push(Number((k * step).toPrecision(12)));
    return found;
}

function axisOf(record) {
    const { marks, name } = record.d ? dateAxis(record) : numberAxis(record);
    const drawn = marks.map(([tick, text]) => {
        const mark = make('span', {}, text);
        mark.style.left = `${100 * atStep(record, tick, tick)}%`;
        return mark;
    });
    return [
        make('div', { class: 'axis', 'aria-hidden': 'true' }, drawn),
        make('div', { class: 'axis-name', 'aria-hidden': 'true' }, name),
    ];
}

function numberAxis(record) {
    const [first, last] = record.t || [0, record.s - 1];
    const [size, unit] = record.t ? axisUnit(last - first) : [1, ''];
    const marks = ticks(first / size, last / size)
        .filter((tick) => record.t || Number.isInteger(tick))
        .map((tick) => [tick * size, said(tick, 12)]);
    return { marks, name: record.t ? `time${unit ? ` (${unit})` : ''}` : 'step, from 0' };
}

// A vertical line at a place in [0, 1] of the plots, right of the names.
function upright(kind, place, ...children) {
    const line = make('div', { class: kind, 'aria-hidden': 'true' }, children);
    line.style.left = `calc(var(--gutter) + (100% - var(--gutter)) * ${place})`;
    return line;
}
