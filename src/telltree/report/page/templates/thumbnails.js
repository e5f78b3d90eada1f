// Records in miniature: a few columns one above the other, drawn alike for all tiles of a category.
const MOST_ROWS = 3;
const recordAt = new Map(DATA.records.map((record, index) => [record.at, { record, index }]));

function scaleOf(records, columns) {
    const longest = Math.max(...records.map(duration));
    const ranges = columns.map((number) => {
        const traces = records
            .map((record) => record.x[number])
            .filter((trace) => trace && isLine(trace) && trace.lo !== null);
        return [Math.min(...traces.map((trace) => trace.lo)), Math.max(...traces.map((trace) => trace.hi))];
    });
    return { longest, ranges };
}

function miniature(record, number, range, longest) {
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
            : [draw('path', { class: 'plot-base', d: 'M0 99H1000' }), linePath(record, trace, ...range, across)],
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
            columns.map((number, row) => miniature(record, number, scale.ranges[row], scale.longest)),
            make(
                'span',
                { class: 'id', title: record.id },
                unseen('Show record '),
                record.id,
                unseen(`, ${sort} of category ${record.category}`),
            ),
            record.wrong &&
                make(
                    'span',
                    { class: 'is' },
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
            `Each tile shows, from top to bottom: ${columns.map(columnWords).join(' · ')}.`,
        ),
    ];
}

const columnWords = (number) =>
    DATA.columns[number].words + (DATA.columns[number].unit ? ` (${DATA.columns[number].unit})` : '');
