// The chosen node: how it was found, and what else might have been asked.
function showDetails(place) {
    const node = DATA.nodes[place];
    byId('details').replaceChildren(...(node.category ? leafDetails(node) : branchDetails(node)));
}

function branchDetails(node) {
    return [
        make(
            'div',
            {},
            make('h3', {}, 'Question'),
            make('p', {}, told(node)),
            make('code', { class: 'formula data beside' }, node.formula),
            asFound(node),
            make(
                'div',
                { class: 'row' },
                copyButton('Copy formula', () => node.formula, 'the formula'),
                copyButton('Copy sentence', () => ways(node)[chosenWay()], 'the sentence'),
            ),
        ),
        make(
            'div',
            {},
            factList([
                ['Gain', said(node.gain, 4)],
                ['Fitness', said(node.fitness, 4)],
                ['Margin', said(node.margin, 3)],
                ['Records', whole(node.records)],
                ...trainedFact(node),
            ]),
            classesHere(node),
        ),
        make('div', {}, make('h4', {}, 'Runners-up: other questions, and their fitness'), othersOf(node.others)),
    ];
}

const classesHere = (node) => [
    make('h4', {}, DATA.labelled ? 'Classes here' : 'Classes it was learned from'),
    classBar(countsOf(node)),
    classLegend(countsOf(node)),
];

const FIRST_OTHERS = 4;

function othersOf(others) {
    if (!others.length) return make('p', { class: 'quiet' }, 'None is known.');
    const list = (some) => make('ul', { class: 'others' }, some.map(otherItem));
    const rest = others.slice(FIRST_OTHERS);
    return [
        list(others.slice(0, FIRST_OTHERS)),
        rest.length > 0 && make('details', {}, make('summary', {}, `${rest.length} more`), list(rest)),
    ];
}

const otherItem = (other) =>
    make(
        'li',
        {},
        make('div', {}, told(other)),
        make('span', { title: 'fitness; less is better' }, said(other.fitness, 4)),
        other.english && make('code', { class: 'formula data quiet beside' }, other.formula),
    );

function leafDetails(node) {
    const category = DATA.categories[node.category - 1];
    return [
        make(
            'div',
            {},
            make('h3', {}, `Category ${node.category}: `, className(category.label)),
            category.headline && make('p', { class: 'headline data' }, category.headline),
            make('p', {}, told(category)),
            make(
                'div',
                { class: 'row' },
                copyButton('Copy sentence', () => ways(category)[chosenWay()], 'the sentence'),
                copyButton('Copy formula', () => category.formula, 'the formula'),
            ),
            make(
                'p',
                {},
                make(
                    'a',
                    { href: `#category-${node.category}`, click: () => revealCard(node.category) },
                    'See its members',
                ),
            ),
        ),
        make(
            'div',
            {},
            factList([
                ['Records', whole(node.records)],
                ['Share of all', percent(category.coverage)],
                ['Labelled so', percent(category.share)],
                ['95 % interval', within(category)],
                ['Beside all', timesAll(category)],
                ...(category.decided ? [['Weights', byWeight(category)]] : []),
                ...trainedFact(node),
            ]),
        ),
        make('div', {}, classesHere(node)),
    ];
}

const factList = (rows) =>
    make(
        'dl',
        { class: 'facts' },
        rows.map(([name, value]) => [make('dt', {}, name), make('dd', {}, value)]),
    );

function trainedFact(node) {
    const trained = node.trained.reduce((sum, count) => sum + count, 0);
    return trained === node.records ? [] : [['Learned from', whole(trained)]];
}

function classLegend(counts) {
    const rows = shares(counts);
    const items = rows.slice(0, 10).map(([number, count]) => make('li', {}, className(number), `: ${whole(count)}`));
    const more = rows.length - 10;
    if (more > 0) items.push(make('li', { class: 'quiet' }, `and ${counted(more, 'more class', 'more classes')}`));
    return make('ul', { class: 'legend' }, items);
}
