// Sentences stand in the page in each way they can be told; the reader chooses which of them is seen.
const WAYS = [
    ['plain', 'Plain'],
    ['paper', 'Paper'],
    ['formula', 'Formula'],
];
const ways = ({ english, paper, formula }) => ({ plain: english ?? formula, paper: paper ?? formula, formula });

const told = (thing) => [
    WAYS.map(([way]) =>
        make('span', { class: `data in-${way}${way === 'formula' ? ' formula' : ''}` }, pictured(ways(thing)[way])),
    ),
    noted(thing.note),
];

// How often the condition of a sentence occurs: "whenever A, B" says nothing of records in which A never holds.
const noted = (note) => note && make('span', { class: 'quiet in-plain' }, note);

// Where the picture of a shape stands among words, it is drawn as a line.
const LEVELS = '▁▂▃▄▅▆▇█';
const pictured = (text) =>
    (text ?? '').split(/([▁-█]{2,})/u).map((part, i) => (i % 2 ? pictureOf([...part]) : part));

function pictureOf(levels) {
    const heights = levels.map((level) => LEVELS.length - LEVELS.indexOf(level));
    return draw(
        'svg',
        {
            class: 'shape',
            role: 'img',
            'aria-label': `(a picture of ${counted(levels.length, 'step')})`,
            viewBox: `0 0 ${levels.length - 1} ${LEVELS.length + 1}`,
            preserveAspectRatio: 'none',
            width: 20 + Math.min(60, 2 * levels.length),
        },
        draw('title', {}, levels.join('')),
        draw('polyline', { points: heights.map((height, step) => `${step},${height}`).join(' ') }),
    );
}

const chosenWay = () => document.body.dataset.say;

// What is true of a record that was answered yes or no.
const answered = (node, holds) =>
    holds ? node : { english: node.negated, paper: node.negated_paper, formula: `¬ ${node.formula}` };

function startSpeech(changed) {
    byId('speech').append(
        segments('Sentences as', 'say', WAYS, chosenWay(), (way) => {
            document.body.dataset.say = way;
            changed();
        }),
    );
}

// The formula as the search found it, where it was shortened or turned round since.
const asFound = ({ found }) =>
    found &&
    make('details', { class: 'found' }, make('summary', {}, 'As found'), make('code', { class: 'formula data' }, found));
