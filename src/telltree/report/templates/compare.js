// Categories side by side.
const MOST_COMPARED = 4;

function setCompared(number, on) {
    const { compared } = cardView;
    if (on && compared.length >= MOST_COMPARED) {
        uncheck(number);
        say(`At most ${MOST_COMPARED} categories stand side by side.`);
        return;
    }
    cardView.compared = on ? [...compared, number].sort((a, b) => a - b) : compared.filter((other) => other !== number);
    showComparison();
    if (on)
        say(
            cardView.compared.length < 2
                ? 'Choose another category to compare it with.'
                : `Comparing ${cardView.compared.length} categories, above the cards.`,
        );
}

function uncheck(number) {
    cardOf(DATA.categories[number - 1]).querySelector('.card-head input').checked = false;
}

function showComparison() {
    const chosen = cardView.compared.map((number) => DATA.categories[number - 1]);
    const box = byId('comparison');
    box.hidden = chosen.length < 2;
    if (box.hidden) return;
    const clear = () => {
        cardView.compared.forEach(uncheck);
        cardView.compared = [];
        showComparison();
    };
    const row = (name, cell) =>
        make(
            'tr',
            {},
            make('th', { scope: 'row' }, name),
            chosen.map((category) => make('td', {}, cell(category))),
        );
    const columns = [...new Set(chosen.flatMap((category) => category.columns))].slice(0, 6);
    box.replaceChildren(
        make(
            'div',
            { class: 'compare-head' },
            make('h3', {}, 'Side by side'),
            make('button', { type: 'button', class: 'small', click: clear }, 'Clear'),
        ),
        make(
            'div',
            { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': 'Table of compared categories' },
            make(
                'table',
                {},
                make('caption', { class: 'hidden-text' }, 'The chosen categories side by side'),
                make(
                    'thead',
                    {},
                    make(
                        'tr',
                        {},
                        make('td'),
                        chosen.map((category) =>
                            make(
                                'th',
                                { scope: 'col' },
                                make('span', { class: 'badge' }, category.number),
                                ' ',
                                outcome(category),
                            ),
                        ),
                    ),
                ),
                make(
                    'tbody',
                    {},
                    chosen.some((category) => category.headline) &&
                        row('Headline', (category) => make('span', { class: 'data' }, pictured(category.headline || '–'))),
                    row('Sentence', told),
                    row('Records', (category) => `${whole(category.records)} (${percent(category.coverage)})`),
                    row(DATA.words.measure, ({ sure }) => `${sure.value} (${sure.within})`),
                    row('Beside all', ({ sure }) => sure.beside),
                    chosen.some(({ sure }) => sure.remark) &&
                        row(DATA.words.remark, ({ sure }) => sure.remark || '–'),
                    row(capital(DATA.words.parts), (category) => [
                        partBar(countsOf(DATA.nodes[category.node])),
                        partLegend(countsOf(DATA.nodes[category.node])),
                    ]),
                    row('Exceptions', (category) => (category.wrong === null ? '–' : String(category.wrong))),
                    columns.map((number) => overlayRow(number, chosen)),
                ),
            ),
        ),
    );
}

// The typical members of each category over each other, on one scale.
function overlayRow(number, chosen) {
    const lists = chosen.map((category) =>
        category.typical.map((at) => recordAt.get(at).record).filter((record) => record.x[number] !== undefined),
    );
    const { longest, ranges } = scaleOf(lists.flat(), [number], []);
    const column = DATA.columns[number];
    const cell = (records) => {
        if (!records.length) return 'not shown';
        const label = `${column.words} of ${counted(records.length, 'typical record')}`;
        const area = draw('svg', {
            class: 'overlay',
            viewBox: '0 0 1000 100',
            preserveAspectRatio: 'none',
            role: 'img',
            'aria-label': label,
        });
        records.forEach((record, i) => {
            const across = longest > 0 ? Math.min(1, duration(record) / longest) : 1;
            if (isLine(record.x[number]))
                area.append(...linePath(record, record.x[number], ...ranges[0], across).filter(Boolean));
            else
                area.append(
                    draw(
                        'g',
                        { transform: `translate(0 ${(100 * i) / records.length}) scale(1 ${1 / records.length})` },
                        bandCells(record, record.x[number], column, across),
                    ),
                );
        });
        return area;
    };
    return make(
        'tr',
        {},
        make('th', { scope: 'row' }, make('span', { class: 'data' }, columnWords(number))),
        lists.map((records) => make('td', {}, cell(records))),
    );
}
