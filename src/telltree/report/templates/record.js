// One record: the way it took, and its traces with the moments that decided.
const recordView = { index: -1, select: null };

function startRecord() {
    const groups = DATA.categories.map((category) => {
        const options = DATA.records.flatMap((record, i) =>
            record.category === category.number ? [make('option', { value: i }, short(optionText(record)))] : [],
        );
        return options.length
            ? make(
                  'optgroup',
                  { label: short(`Category ${category.number}: ${category.title}`) },
                  options,
              )
            : null;
    });
    const select = make('select', { change: () => chooseRecord(Number(select.value), false) }, groups);
    recordView.select = select;
    recordView.order = [...select.options].map((option) => Number(option.value));
    const go = (by) => () => {
        const { order } = recordView;
        chooseRecord(order[(order.indexOf(recordView.index) + by + order.length) % order.length], false);
    };
    byId('record-tools').append(
        field('Record', select),
        make(
            'div',
            { class: 'row' },
            make('button', { type: 'button', click: go(-1) }, 'Previous'),
            make('button', { type: 'button', click: go(1) }, 'Next'),
        ),
    );
    if (DATA.records.length < DATA.total) {
        byId('record-tools').append(
            make(
                'p',
                { class: 'quiet' },
                `${whole(DATA.records.length)} of ${whole(DATA.total)} records are kept here: examples of every category, then others.`,
            ),
        );
    }
    drawRecord(recordView.order[0]);
}

function optionText(record) {
    const label = record.label === null ? '' : `, ${LABELS[record.label]}`;
    return `${record.id}${label}${record.wrong ? ' (exception)' : ''}`;
}

// Every part that shows a record shows the same one.
function chooseRecord(index, jump) {
    drawRecord(index);
    showWay(DATA.records[index]);
    if (jump) {
        byId('record').scrollIntoView();
        byId('record').focus({ preventScroll: true });
    }
}

function drawRecord(index) {
    const record = DATA.records[index];
    recordView.index = index;
    recordView.select.value = String(index);
    byId('record-view').replaceChildren(
        recordHead(record),
        make('div', { class: 'record-grid' }, wayOf(record), charts(record)),
    );
}

function recordHead(record) {
    const category = DATA.categories[record.category - 1];
    return make(
        'div',
        { class: 'record-head' },
        make('h3', { class: 'data' }, `Record ${record.id}`),
        make(
            'p',
            { class: 'verdict' },
            'Category ',
            make(
                'a',
                { href: `#category-${category.number}`, click: () => revealCard(category.number) },
                String(category.number),
            ),
            category.mixed.length ? ', ' : ', predicted ',
            outcome(category),
            record.label === null
                ? ''
                : [
                      ', labelled ',
                      labelName(record.label),
                      record.wrong ? make('span', { class: 'wrong' }, ' — an exception') : '',
                  ],
        ),
        make(
            'p',
            { class: 'quiet' },
            counted(record.s, 'step') + (record.w ? `, drawn in groups of ${record.w} whose extremes are kept` : ''),
        ),
    );
}

const moment = (record, turn) =>
    turn.time !== null && record.t ? `at ${turn.date || timeWords(record, turn.time)}` : `at step ${turn.step}`;

function wayOf(record) {
    const category = DATA.categories[record.category - 1];
    const turns = record.way.map((turn, i) => {
        const node = DATA.nodes[turn.node];
        return make(
            'li',
            { class: 'turn' },
            make(
                'div',
                { class: 'turn-head' },
                make('span', { class: 'badge' }, i + 1),
                make('span', { class: `pill ${turn.holds ? 'yes' : 'no'}` }, turn.holds ? 'yes' : 'no'),
                turn.unknown ? 'unknown' : `decided ${moment(record, turn)}`,
            ),
            make('p', {}, turn.unknown ? [told(node), '?'] : told(answered(node, turn.holds))),
            make('p', { class: 'formula data beside' }, (turn.unknown ? node : answered(node, turn.holds)).formula),
            turn.unknown
                ? make('p', { class: 'turn-facts data' }, capital(turn.unknown))
                : turn.distance && make('p', { class: 'turn-facts' }, `margin ${turn.distance}`),
        );
    });
    const end = make(
        'li',
        { class: 'turn turn-end' },
        'Category ',
        String(category.number),
        ': ',
        outcome(category),
    );
    return make('ol', { class: 'way', 'aria-label': 'The way through the tree' }, turns, end);
}

// The columns that the way asks about come first.
function columnsOf(record) {
    const first = DATA.categories[record.category - 1].columns;
    return [
        ...first,
        ...Object.keys(record.x)
            .map(Number)
            .filter((number) => !first.includes(number)),
    ];
}

// The steps that a question compared with a shape, up to the one that decided.
function piecesOf(record, name) {
    const at = (step) => 1000 * placeOf(record, step);
    return record.way.flatMap((turn) =>
        DATA.nodes[turn.node].pieces
            .filter(([column, steps]) => column === name && turn.step >= steps - 1)
            .map(([, steps]) => [at(turn.step - steps + 1), at(turn.step)]),
    );
}

function charts(record) {
    const marks = new Map();
    for (const turn of record.way)
        for (const [name, value] of DATA.nodes[turn.node].marks) marks.set(name, [...(marks.get(name) || []), value]);
    const still = (number) =>
        record.s === 1 || (isLine(record.x[number]) ? record.x[number].v.length === 2 : record.x[number].length === 1);
    const columns = columnsOf(record);
    const asked = DATA.categories[record.category - 1].columns;
    const moving = columns.filter((number) => !still(number));
    const lanes = moving.map((number) => ({
        ...columnLane(
            record,
            number,
            [...new Set(marks.get(DATA.columns[number].name) || [])],
            piecesOf(record, DATA.columns[number].name),
        ),
        legend: levelLegend(record, number),
        asked: asked.includes(number),
    }));
    const looks = record.s === 1 ? [] : record.way.flatMap((turn, i) => lookLanes(record, turn, i + 1));
    const fixed = columns.filter(still);
    const box = make('div', {}, fixed.length > 0 && fixedTable(record, fixed));
    if (moving.length) box.append(chartBox(record, lanes, looks));
    return box;
}

function fixedTable(record, numbers) {
    return make(
        'table',
        { class: 'statics' },
        make('caption', {}, record.s === 1 ? 'Values at its only step' : 'Values that hold for the whole record'),
        make(
            'tbody',
            {},
            numbers.map((number) =>
                make(
                    'tr',
                    {},
                    make('th', { scope: 'row', class: 'data' }, short(DATA.columns[number].words)),
                    make('td', { class: 'data' }, short(wordsAt(record, record.x[number], DATA.columns[number], 0.5))),
                ),
            ),
        ),
    );
}

function chartBox(record, lanes, looks) {
    const cursor = upright('cursor', 0);
    const marks = moments(record);
    const drawn = (some) => some.map(({ lane, legend }) => [lane, legend]);
    const [first, others] = [lanes.filter((lane) => lane.asked), lanes.filter((lane) => !lane.asked)];
    const area = make(
        'div',
        { class: 'lanes' },
        drawn(first),
        looks.length > 0 && [make('h4', {}, 'Where what each question looks for is true'), drawn(looks)],
        others.length > 0 && [make('h4', {}, 'Other columns'), drawn(others)],
        marks,
        cursor,
    );
    area.style.setProperty('--levels', Math.max(0, ...marks.map((mark) => Number(mark.dataset.level))));
    const scrub = make('input', {
        type: 'range',
        min: 0,
        max: record.s - 1,
        value: record.way.length ? record.way[record.way.length - 1].step : 0,
        'aria-label': 'Moment to read values at',
    });
    const name = make('span', { class: 'scrub-name' });
    const move = () => {
        const place = placeOf(record, Number(scrub.value));
        cursor.style.left = upright('', place).style.left;
        [...lanes, ...looks].forEach((lane) => lane.tell(place));
        scrub.setAttribute('aria-valuetext', momentText(record, Number(scrub.value)));
        name.textContent = `Values at ${momentText(record, Number(scrub.value))}`;
    };
    move();
    scrub.addEventListener('input', move);
    area.addEventListener('pointermove', (event) => pointAt(event, area, scrub, record, move));
    return make('div', { class: 'charts' }, area, axisOf(record), make('div', { class: 'scrub' }, name, scrub));
}

function pointAt(event, area, scrub, record, move) {
    const plot = area.querySelector('.plot').getBoundingClientRect();
    const share = (event.clientX - plot.left) / plot.width;
    if (share < 0 || share > 1) return;
    scrub.value = stepAt(record, share);
    move();
}

function momentText(record, step) {
    if (!record.t || record.u) return `step ${step}`;
    const time = record.s > 1 ? record.t[0] + ((record.t[1] - record.t[0]) * step) / (record.s - 1) : record.t[0];
    return timeWords(record, time);
}

// Turns that were decided at one moment share a mark; marks that are near each other stand on different levels.
function moments(record) {
    const together = new Map();
    record.way.forEach((turn, i) => together.set(turn.step, [...(together.get(turn.step) || []), i + 1]));
    const timeOf = (step) => record.way.find((turn) => turn.step === step).time;
    const levels = [];
    return [...together]
        .map(([step, turns]) => [atStep(record, step, timeOf(step)), turns])
        .sort(([a], [b]) => a - b)
        .map(([place, turns]) => {
            const wide = NEAR * (1 + turns.length);
            const free = levels.findIndex((end) => end <= place - wide / 2);
            const level = free < 0 ? levels.length : free;
            levels[level] = place + wide / 2;
            const mark = upright('moment', place, make('span', {}, turns.join(' · ')));
            mark.style.setProperty('--level', level);
            mark.dataset.level = level;
            return mark;
        });
}

const NEAR = 0.06; // half of what a mark of one turn takes of a narrow plot
