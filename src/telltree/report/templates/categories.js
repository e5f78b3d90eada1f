// Cards, sorted and filtered; only those asked for are in the page at once.
const PAGE = 20;
const SORTS = {
    number: ['Number', (a, b) => a.number - b.number],
    records: ['Most records', (a, b) => b.records - a.records],
    pure: [DATA.words.most, (a, b) => b.sure.size - a.sure.size],
    mixed: [DATA.words.least, (a, b) => a.sure.size - b.sure.size],
    wrong: ['Most exceptions', (a, b) => b.wrong - a.wrong],
    label: [capital(DATA.words.part), (a, b) => a.part - b.part],
};
const cardView = { sort: 'number', part: '', words: '', wrong: false, most: PAGE, made: new Map(), compared: [] };

function startCategories() {
    const parts = [...new Set(DATA.categories.map((category) => category.part))].sort((a, b) => a - b);
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
        byPart.value = '';
        Object.assign(cardView, { part: '', words: '', wrong: false });
    };
    const byPart = chooser(
        [['', `all ${DATA.words.parts}`], ...parts.map((part) => [part, DATA.parts[part]])],
        change('part'),
    );
    byId('category-tools').append(
        field(
            'Sort by',
            chooser(
                Object.entries(SORTS).map(([key, [text]]) => [key, text]),
                change('sort'),
            ),
        ),
        field(capital(DATA.words.part), byPart),
        field('Sentence contains', search),
    );
    if (DATA.labelled) byId('category-tools').append(make('label', { class: 'check' }, wrong, 'Only with exceptions'));
    showCards();
}

function wanted(category) {
    const { part, words, wrong } = cardView;
    const { english, paper, formula, headline } = category;
    const text = [headline, english, paper, formula].join(' ').toLowerCase();
    return (part === '' || category.part === Number(part)) && text.includes(words) && (!wrong || category.wrong > 0);
}

function showCards() {
    const found = DATA.categories.filter(wanted).sort((a, b) => SORTS[cardView.sort][1](a, b) || a.number - b.number);
    const seen = found.slice(0, cardView.most);
    const cards = inGroups(seen);
    const left = found.length - seen.length;
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

// Two siblings that stand next to each other are a group: what they share is told once, above them.
function inGroups(categories) {
    const shown = [];
    for (let i = 0; i < categories.length; i += 1) {
        const [one, next] = [categories[i], categories[i + 1]];
        if (!next || one.beside !== next.number) {
            shown.push(cardOf(one));
            continue;
        }
        const name = `Categories ${one.number} and ${next.number}`;
        const above = make('p', { class: 'shares' }, make('b', {}, `${name} share: `), told({ ...one.shared, note: one.shared.together }));
        shown.push(make('section', { class: 'siblings', 'aria-label': name }, above, cardOf(one), cardOf(next)));
        i += 1;
    }
    return shown;
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
            make('h3', { id: head }, make('span', { class: 'badge' }, category.number), outcome(category)),
            make(
                'label',
                { class: 'check' },
                compare,
                'Compare',
                make('span', { class: 'hidden-text' }, ` category ${category.number}`),
            ),
        ),
        category.lead && make('p', { class: 'headline data' }, pictured(category.lead)),
        make('p', { class: 'figures data' }, category.figures),
        category.doubt && make('p', { class: 'figures doubt' }, category.doubt),
        category.shared ? besideSibling(category) : [exactly(category), apartOf(category)],
        make(
            'details',
            { class: 'beside' },
            make('summary', {}, 'Formula'),
            make('p', { class: 'formula data' }, category.formula),
        ),
        make(
            'div',
            { class: 'row' },
            copyButton(
                'Copy sentence',
                () => ways(category)[chosenWay()],
                `the sentence of category ${category.number}`,
            ),
            copyButton('Copy formula', () => category.formula, `the formula of category ${category.number}`),
        ),
        measures(category),
        collages(category),
    );
}

// Where fewer words tell the records of this page apart, the whole sentence is told on demand.
const exactly = (category) =>
    category.short
        ? [
              make(
                  'p',
                  { class: 'sentence short in-plain' },
                  make('b', {}, `On these ${counted(DATA.total, 'record')}: `),
                  make('span', { class: 'data' }, category.short),
                  noted(category.short_note),
              ),
              wholeOf(category),
          ]
        : make(
              'p',
              { class: 'sentence' },
              category.lead && make('b', { class: 'after-headline' }, 'Exactly: '),
              told(category),
          );

// What a category shares with its sibling, and what sets it apart; together they are the whole sentence. In a group the
// first is told above.
const besideSibling = (category) => [
    make('p', { class: 'shares own' }, make('b', {}, `Like category ${category.beside}: `), told(category.shared)),
    apartOf(category),
    wholeOf(category),
];

const wholeOf = (category) =>
    make(
        'details',
        { class: 'whole' },
        make('summary', {}, 'Whole sentence'),
        make('p', { class: 'sentence' }, told(category)),
    );

// What sets a category apart from what stands beside it: the last answer. After one question, the sentence says it.
function apartOf(category) {
    const leaf = DATA.nodes[category.node];
    const last = DATA.nodes[leaf.parent];
    if (!last || last.parent < 0) return null;
    const beside = childrenOf(leaf.parent).find((place) => place !== category.node);
    return make(
        'p',
        { class: 'apart' },
        make('b', {}, `Unlike ${categoriesAt(beside)}: `),
        told(category.apart ?? answered(last, leaf.side)),
    );
}

// Categories below a node are numbered in a row.
function categoriesAt(place) {
    let first = place;
    while (!DATA.nodes[first].category) first = childrenOf(first)[0];
    const number = DATA.nodes[first].category;
    const more = categoriesBelow(place) - 1;
    return more ? `categories ${number} ${more === 1 ? 'and' : 'to'} ${number + more}` : `category ${number}`;
}

function measures(category) {
    const counts = countsOf(DATA.nodes[category.node]);
    const { sure } = category;
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
            measureOf(category),
            make('dd', {}, sure.value),
            sure.size !== null &&
                make('dd', { class: 'small' }, sure.within, sure.bar && interval(sure), sure.beside),
            sure.remark && make('dd', { class: 'small' }, sure.remark),
        ),
        part(
            capital(DATA.words.parts),
            make('dd', {}, partBar(counts)),
            make('dd', { class: 'small' }, partLegend(counts)),
        ),
        part(
            'Exceptions',
            make('dd', {}, category.wrong === null ? '–' : whole(category.wrong)),
            make('dd', { class: 'small' }, DATA.words.otherwise),
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
                              .map((number) => DATA.columns[number].words)
                              .map((words) => make('li', { class: 'data whole-words', title: words }, words)),
                      )
                    : 'none',
            ),
        ),
    );
}
