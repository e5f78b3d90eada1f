// Records in miniature: a few columns one above the other, drawn alike for all tiles of a category.
const MOST_ROWS = 3;
const recordAt = new Map(DATA.records.map((record, index) => [record.at, { record, index }]));

function scaleOf(records, columns, categories) {
    const longest = Math.max(...records.map(duration));
    const marks = columns.map((number) => marksOf(categories, DATA.columns[number].name));
    const ranges = columns.map((number, row) => {
        const traces = records
            .map((record) => record.x[number])
            .filter((trace) => trace && isLine(trace) && trace.lo !== null);
        const known = [...traces.flatMap((trace) => [trace.lo, trace.hi]), ...(traces.length ? marks[row] : [])];
        return [Math.min(...known), Math.max(...known)];
    });
    return { longest, ranges, marks };
}

// The constants that the questions on the way to categories compare a column with.
function marksOf(categories, name) {
    const found = new Set();
    for (const category of categories)
        for (let place = DATA.nodes[category.node].parent; place >= 0; place = DATA.nodes[place].parent)
            for (const [column, value] of DATA.nodes[place].marks) if (column === name) found.add(value);
    return [...found].sort((a, b) => a - b);
}

function miniature(record, number, range, marks, longest) {
    const column = DATA.columns[number];
    const trace = record.x[number];
    if (record.s === 1 || (isLine(trace) ? trace.v.length === 2 : trace.length === 1)) {
        return make('span', { class: 'value', title: column.words }, wordsAt(record, trace, column, 0.5));
    }
    const across = longest > 0 ? Math.min(1, duration(record) / longest) : 1;
    const thin = !isLine(trace);
    return draw(
        'svg',
        { viewBox: '0 0 1000 100', preserveAspectRatio: 'none', 'aria-hidden': 'true', class: thin ? 'thin' : null },
        thin
            ? bandCells(record, trace, column, across)
            : [
                  draw('path', { class: 'plot-base', d: 'M0 99H1000M0.5 0V100' }),
                  marks.map((mark) => draw('path', { class: 'threshold', d: `M0 ${heightOf(mark, ...range)}H1000` })),
                  linePath(record, trace, ...range, across),
              ],
    );
}

function thumbnail(at, columns, scale, sort) {
    const { record, index } = recordAt.get(at);
    const unseen = (text) => make('span', { class: 'hidden-text' }, text);
    return make(
        'li',
        {},
        make(
            'button',
            { type: 'button', class: 'thumb', click: () => chooseRecord(index, true) },
            columns.map((number, row) =>
                miniature(record, number, scale.ranges[row], scale.marks[row], scale.longest),
            ),
            make(
                'span',
                { class: 'id', title: record.id },
                unseen('Show record '),
                record.id,
                unseen(`, ${sort} of category ${record.category}`),
            ),
            (record.wrong || (record.label !== null && DATA.categories[record.category - 1].mixed.length > 0)) &&
                make(
                    'span',
                    { class: 'is', title: LABELS[record.label] },
                    swatch(partOf(record.label)),
                    unseen('labelled '),
                    LABELS[record.label],
                ),
        ),
    );
}

function collages(category) {
    const asked = category.columns.length ? category.columns : DATA.columns.map((_, number) => number);
    const columns = asked.slice(0, MOST_ROWS);
    const shown = [...category.typical, ...category.borderline, ...category.exceptions];
    if (!shown.length || !columns.length) return null;
    const scale = scaleOf(
        shown.map((at) => recordAt.get(at).record),
        columns,
        [category],
    );
    const group = (title, list, sort, note) =>
        list.length > 0 &&
        make(
            'div',
            { class: 'group' },
            make('h4', { title: note }, title),
            make(
                'ul',
                { class: 'collage' },
                list.map((at) => thumbnail(at, columns, scale, sort)),
            ),
        );
    const among = (some) => (some < category.records ? `, among ${whole(some)} drawn at random` : '');
    return [
        make(
            'div',
            { class: 'groups' },
            group('Typical', category.typical, 'typical', `Nearest to all others${among(category.pooled)}`),
            group(
                'Borderline',
                category.borderline,
                'borderline',
                `With the smallest margins on the way${among(category.measured)}`,
            ),
            group(
                `Exceptions, of ${category.wrong}`,
                category.exceptions,
                'an exception',
                DATA.words.exception,
            ),
        ),
        make(
            'p',
            { class: 'quiet rows-note data' },
            `Each tile shows, from top to bottom: ${columns.map((number, row) => axisWords(number, row, scale)).join('; ')}.`,
            shown.some((at) => recordAt.get(at).record.s > 1) && ' All tiles are drawn to the same scale.',
        ),
    ];
}

// What a row of the tiles shows, between which values, and where its thresholds are.
function axisWords(number, row, { ranges, marks }) {
    const [low, high] = ranges[row];
    if (!Number.isFinite(low) || !Number.isFinite(high)) return columnWords(number);
    const dashed = marks[row].length ? `, dashed at ${marks[row].map((mark) => said(mark, 4)).join(' and ')}` : '';
    return `${columnWords(number)} from ${said(low, 4)} to ${said(high, 4)}${dashed}`;
}

const columnWords = (number) =>
    DATA.columns[number].words + (DATA.columns[number].unit ? ` (${DATA.columns[number].unit})` : '');
