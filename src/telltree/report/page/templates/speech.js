// Sentences stand in the page in each way they can be told; the reader chooses which of them is seen.
const WAYS = [
    ['plain', 'Plain'],
    ['paper', 'Paper'],
    ['formula', 'Formula'],
];
const ways = ({ english, paper, formula }) => ({ plain: english ?? formula, paper: paper ?? formula, formula });

const told = (thing) =>
    WAYS.map(([way]) =>
        make('span', { class: `data in-${way}${way === 'formula' ? ' formula' : ''}` }, ways(thing)[way]),
    );

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
