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
            node.unknown && make('p', { class: 'quiet' }, `When it was learned, ${node.unknown}.`),
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
            partsHere(node),
        ),
        make('div', {}, make('h4', {}, 'Runners-up: other questions, and their fitness'), othersOf(node.others)),
    ];
}

const partsHere = (node) => [
    make('h4', {}, capital(DATA.words.parts) + (DATA.labelled ? ' here' : ' it was learned from')),
    partBar(countsOf(node)),
    partLegend(countsOf(node)),
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
            make('h3', {}, `Category ${node.category}: `, outcome(category)),
            category.lead && make('p', { class: 'headline data' }, pictured(category.lead)),
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
                [measureOf(category), category.sure.value],
                [DATA.words.within, category.sure.within],
                ['Beside all', category.sure.beside],
                ...(category.sure.remark ? [[DATA.words.remark, category.sure.remark]] : []),
                ...trainedFact(node),
            ]),
        ),
        make('div', {}, partsHere(node)),
    ];
}

const factList = (rows) =>
    make(
        'dl',
        { class: 'facts' },
        rows.map(([name, value]) => [make('dt', {}, name), make('dd', {}, value)]),
    );

function trainedFact(node) {
    return node.learned === node.records ? [] : [['Learned from', whole(node.learned)]];
}

function partLegend(counts) {
    const rows = shares(counts);
    const items = rows.slice(0, 10).map(([number, count]) => make('li', {}, partName(number), `: ${whole(count)}`));
    const more = rows.length - 10;
    if (more > 0) items.push(make('li', { class: 'quiet' }, `and ${counted(more, `more ${DATA.words.part}`, `more ${DATA.words.parts}`)}`));
    return make('ul', { class: 'legend' }, items);
}
