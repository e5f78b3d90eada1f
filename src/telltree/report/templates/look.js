// How the parts of the target and levels look: Okabe and Ito's colours, which the colour-blind tell apart, and patterns once they run out.
const COLOURS = ['#0072B2', '#E69F00', '#009E73', '#CC79A7', '#D55E00', '#56B4E9', '#F0E442'];
const PATTERNS = ['M0 8L8 0', 'M4 0V8', 'M0 4H8', 'M0 0L8 8', 'M0 4H8M4 0V8', 'M2 2h1v1h-1zM6 6h1v1h-1z'];

// Patterns are put into the page when they are first asked for.
const patterns = draw('defs');
document.body.append(draw('svg', { width: 0, height: 0, 'aria-hidden': 'true', class: 'hidden-text' }, patterns));
const made = new Set();

function fillOf(number) {
    const colour = COLOURS[number % COLOURS.length];
    const turn = Math.floor(number / COLOURS.length);
    if (turn === 0) return colour;
    const pattern = (turn - 1) % PATTERNS.length;
    const id = `pattern-${number % COLOURS.length}-${pattern}`;
    if (!made.has(id)) {
        made.add(id);
        patterns.append(
            draw(
                'pattern',
                { id, width: 8, height: 8, patternUnits: 'userSpaceOnUse' },
                draw('rect', { width: 8, height: 8, fill: colour }),
                draw('path', {
                    d: PATTERNS[pattern],
                    fill: 'none',
                    stroke: '#000',
                    'stroke-opacity': 0.6,
                    'stroke-width': 1.4,
                }),
            ),
        );
    }
    return `url(#${id})`;
}

// A square in the colour of a part of the target, or in those of several.
const swatch = (...numbers) => {
    const width = 10 / numbers.length;
    return draw(
        'svg',
        { class: 'swatch', viewBox: '0 0 10 10', 'aria-hidden': 'true' },
        numbers.map((number, i) =>
            draw('rect', { x: i * width, width, height: 10, rx: numbers.length > 1 ? 0 : 2, fill: fillOf(number) }),
        ),
    );
};

// What records are labelled, and in which part of the target each label is.
const LABELS = DATA.labels || DATA.parts;
const partOf = (label) => (DATA.label_parts ? DATA.label_parts[label] : label);

const swatched = (parts, text, most) =>
    make('span', { class: 'data named whole-words', title: text }, swatch(...parts), short(text, most));
const partName = (number) => swatched([number], DATA.parts[number]);
const labelName = (label) => swatched([partOf(label)], LABELS[label]);
const partsOf = ({ part, mixed }) => (mixed.length ? mixed.slice(0, 3) : [part]);
const outcome = (category) => swatched(partsOf(category), category.title, category.mixed.length ? 210 : 70);
// Of several classes, the share is that of the first.
const measureOf = ({ mixed }) => (mixed.length ? 'Labelled as the first' : DATA.words.measure);

const shares = (counts) =>
    counts
        .map((count, number) => [number, count])
        .filter(([, count]) => count)
        .sort((a, b) => b[1] - a[1]);

// One bar, cut by the parts of the target; its text says the same in words.
function partBar(counts) {
    const total = counts.reduce((sum, count) => sum + count, 0);
    const told = shares(counts)
        .slice(0, 6)
        .map(([number, count]) => `${DATA.parts[number]}: ${count}`)
        .join(', ');
    const bar = draw('svg', {
        class: 'bar',
        viewBox: '0 0 100 10',
        preserveAspectRatio: 'none',
        role: 'img',
        'aria-label': told || 'no records',
    });
    let x = 0;
    counts.forEach((count, number) => {
        if (!count) return;
        bar.append(draw('rect', { x, y: 0, width: (100 * count) / total, height: 10, fill: fillOf(number) }));
        x += (100 * count) / total;
    });
    return bar;
}

function interval({ bar, within }) {
    const [low, at, high] = bar;
    const label = `${DATA.words.within} ${within}`;
    return draw(
        'svg',
        { class: 'interval', viewBox: '0 0 100 10', preserveAspectRatio: 'none', role: 'img', 'aria-label': label },
        draw('rect', { class: 'track', x: 0, y: 4, width: 100, height: 2 }),
        draw('rect', { class: 'span', x: 100 * low, y: 2, width: 100 * (high - low), height: 6 }),
        draw('rect', { class: 'dot', x: 100 * at - 0.75, y: 0, width: 1.5, height: 10 }),
    );
}
