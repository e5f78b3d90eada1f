// Cards, sorted and filtered; only those asked for are in the page at once.
const PAGE = 20;
const SORTS = {
    number: ['Number', (a, b) => a.number - b.number],
    records: ['Most records', (a, b) => b.records - a.records],
    pure: ['Largest share', (a, b) => b.share - a.share],
    mixed: ['Smallest share', (a, b) => a.share - b.share],
    wrong: ['Most exceptions', (a, b) => b.wrong - a.wrong],
    label: ['Class', (a, b) => a.label - b.label],
};
const cardView = { sort: 'number', label: '', words: '', wrong: false, most: PAGE, made: new Map(), compared: [] };

function startCategories() {
    const labels = [...new Set(DATA.categories.map((category) => category.label))].sort((a, b) => a - b);
    const change = (name) => (value) => {
        cardView[name] = value;
        cardView.most = PAGE;
        showCards();
    };
    const search = make('input', { type: 'search', input: () => change('words')(search.value.toLowerCase()) });
    const wrong = make('input', { type: 'checkbox', change: () => change('wrong')(wrong.checked) });
    cardView.reset = () => {
        search.value = '';
        wrong.checked = false;
        byLabel.value = '';
        Object.assign(cardView, { label: '', words: '', wrong: false });
    };
    const byLabel = chooser(
        [['', 'all classes'], ...labels.map((label) => [label, DATA.classes[label]])],
        change('label'),
    );
    byId('category-tools').append(
        field(
            'Sort by',
            chooser(
                Object.entries(SORTS).map(([key, [text]]) => [key, text]),
                change('sort'),
            ),
        ),
        field('Class', byLabel),
        field('Sentence contains', search),
    );
    if (DATA.labelled) byId('category-tools').append(make('label', { class: 'check' }, wrong, 'Only with exceptions'));
    showCards();
}

function wanted(category) {
    const { label, words, wrong } = cardView;
    const text = `${category.english} ${category.formula}`.toLowerCase();
    return (label === '' || category.label === Number(label)) && text.includes(words) && (!wrong || category.wrong > 0);
}

function showCards() {
    const found = DATA.categories.filter(wanted).sort((a, b) => SORTS[cardView.sort][1](a, b) || a.number - b.number);
    const cards = found.slice(0, cardView.most).map(cardOf);
    const left = found.length - cards.length;
    if (left > 0)
        cards.push(
            make(
                'button',
                {
                    type: 'button',
                    class: 'more',
                    click: () => {
                        cardView.most += PAGE;
                        showCards();
                    },
                },
                `Show ${Math.min(left, PAGE)} more of ${left}`,
            ),
        );
    byId('cards').replaceChildren(...cards);
    byId('category-count').textContent =
        `${found.length} of ${counted(DATA.categories.length, 'category', 'categories')}`;
}

function cardOf(category) {
    if (!cardView.made.has(category.number)) cardView.made.set(category.number, makeCard(category));
    return cardView.made.get(category.number);
}

// Filters are dropped if they hide the card that a link leads to.
function revealCard(number) {
    const category = DATA.categories[number - 1];
    if (!wanted(category)) cardView.reset();
    cardView.most = DATA.categories.length;
    showCards();
}

function makeCard(category) {
    const compare = make('input', { type: 'checkbox', change: () => setCompared(category.number, compare.checked) });
    const head = `card-${category.number}`;
    return make(
        'article',
        { class: 'card', id: `category-${category.number}`, 'aria-labelledby': head },
        make(
            'div',
            { class: 'card-head' },
            make('h3', { id: head }, make('span', { class: 'badge' }, category.number), className(category.label)),
            make(
                'label',
                { class: 'check' },
                compare,
                'Compare',
                make('span', { class: 'hidden-text' }, ` category ${category.number}`),
            ),
        ),
        make('p', { class: 'sentence data' }, category.english),
        make('p', { class: 'formula data' }, category.formula),
        make(
            'div',
            { class: 'row' },
            copyButton('Copy sentence', category.english, `the sentence of category ${category.number}`),
            copyButton('Copy formula', category.formula, `the formula of category ${category.number}`),
        ),
        measures(category),
        collages(category),
    );
}

function measures(category) {
    const counts = countsOf(DATA.nodes[category.node]);
    const part = (name, ...values) => make('div', {}, make('dt', {}, name), values);
    return make(
        'dl',
        { class: 'measures' },
        part(
            'Records',
            make('dd', {}, whole(category.records)),
            make('dd', { class: 'small' }, `${percent(category.coverage)} of all`),
        ),
        part(
            'Share of its class',
            make('dd', {}, percent(category.share)),
            category.share !== null &&
                make(
                    'dd',
                    { class: 'small' },
                    within(category),
                    interval(category.low, category.high, category.share),
                    timesAll(category),
                ),
            category.decided && make('dd', { class: 'small' }, byWeight(category)),
        ),
        part('Classes', make('dd', {}, classBar(counts)), make('dd', { class: 'small' }, classLegend(counts))),
        part(
            'Exceptions',
            make('dd', {}, category.wrong === null ? '–' : whole(category.wrong)),
            make('dd', { class: 'small' }, 'labelled otherwise'),
        ),
        part(
            'Columns that matter',
            make(
                'dd',
                { class: 'small' },
                category.columns.length
                    ? make(
                          'ul',
                          { class: 'chips' },
                          category.columns
                              .slice(0, 8)
                              .map((number) => make('li', { class: 'data' }, DATA.columns[number].words)),
                      )
                    : 'none',
            ),
        ),
    );
}
