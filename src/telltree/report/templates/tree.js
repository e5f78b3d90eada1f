// The tree: boxes that nest as the tree does, and links drawn between them once the browser has laid them out.
const childrenOf = (place) => DATA.nodes.flatMap((node, i) => (node.parent === place ? [i] : []));
const categoriesBelow = (place) =>
    DATA.nodes[place].category ? 1 : childrenOf(place).reduce((sum, child) => sum + categoriesBelow(child), 0);
const countsOf = (node) => node.counts || node.trained;

const MANY = 16; // categories; a larger tree opens with its first levels only
const FIRST_LEVELS = 3;
const BOX = { least: 165, good: 210, most: 300 }; // widths in pixels
const [GAP_BETWEEN, EDGES] = [56, 56];
const treeView = { items: [], tree: null, links: null, chosenLayout: false };

function startTree() {
    const tree = make('div', {
        class: 'tree',
        role: 'tree',
        'aria-label': 'The decision tree',
        keydown: treeKeys,
    });
    treeView.links = draw('svg', { class: 'links', 'aria-hidden': 'true', width: 1, height: 1 });
    treeView.tree = tree;
    tree.append(treeView.links, treeItem(0, 1));
    byId('tree-frame').append(tree);
    treeTools();
    if (DATA.categories.length > MANY) foldBelow(FIRST_LEVELS);
    arrange();
    select(0, false);
    showRoot();
    addEventListener('resize', arrange);
    new ResizeObserver(drawLinks).observe(tree);
}

function treeItem(place, level) {
    const node = DATA.nodes[place];
    const below = childrenOf(place);
    const group = below.length ? `below-${place}` : null;
    const box = make(
        'div',
        {
            class: `box${node.category ? ' leaf' : ''}`,
            role: 'treeitem',
            tabindex: place ? -1 : 0,
            'aria-level': level,
            'aria-selected': 'false',
            'aria-expanded': group && 'true',
            'aria-owns': group,
            'data-place': place,
            click: () => select(place, true),
        },
        answerOf(node),
        node.category ? leafBody(node) : branchBody(node, place),
    );
    treeView.items[place] = box;
    return make(
        'div',
        { class: 'spot', role: 'none' },
        box,
        group &&
            make(
                'div',
                { class: 'below', role: 'group', id: group },
                below.map((child) => treeItem(child, level + 1)),
            ),
    );
}

const answerOf = (node) =>
    node.side === null ? null : make('span', { class: `answer ${node.side ? 'yes' : 'no'}` }, node.side ? 'yes' : 'no');

function branchBody(node, place) {
    const hidden = counted(categoriesBelow(place), 'category', 'categories');
    return [
        make('div', { class: 'says whole-words', title: node.english }, told(node)),
        partBar(countsOf(node)),
        make('div', { class: 'count' }, counted(node.records, 'record')),
        make('div', { class: 'folded-note' }, `${hidden} folded away`),
        make(
            'span',
            {
                class: 'fold',
                'aria-hidden': 'true',
                click: (event) => {
                    event.stopPropagation();
                    fold(place);
                    select(place, true);
                },
            },
            '−',
        ),
    ];
}

function leafBody(node) {
    const category = DATA.categories[node.category - 1];
    return [
        make('div', { class: 'leaf-head' }, make('span', { class: 'badge' }, node.category), outcome(category)),
        partBar(countsOf(node)),
        make(
            'div',
            { class: 'count' },
            make('span', {}, counted(node.records, 'record')),
            category.sure.brief && !category.mixed.length && make('span', {}, category.sure.brief),
        ),
        category.sure.brief_remark && make('div', { class: 'count' }, category.sure.brief_remark),
    ];
}

function treeTools() {
    const records = chooser(
        [
            ['', 'none'],
            ...DATA.records.map((record, i) => [i, `${short(record.id, 40)} (category ${record.category})`]),
        ],
        (value) => (value === '' ? showWay(null) : chooseRecord(Number(value), false)),
    );
    treeView.records = records;
    byId('tree-tools').append(
        segments(
            'Layout',
            'layout',
            [
                ['diagram', 'Diagram'],
                ['outline', 'Outline'],
            ],
            'diagram',
            (value) => {
                treeView.chosenLayout = true;
                setLayout(value);
                arrange();
            },
        ),
        make(
            'div',
            { class: 'row' },
            make('button', { type: 'button', click: () => foldAll(false) }, 'Unfold all'),
            make('button', { type: 'button', click: () => foldAll(true) }, 'Fold all'),
        ),
        field('Show the way of record', records),
    );
}

// Boxes are as wide as lets all unfolded levels be seen, within reason. Details stand beside a tree that leaves room for them,
// else below it; where little room is left, an outline is drawn.
function arrange() {
    const frame = byId('tree-frame');
    const around = frame.parentElement;
    if (!treeView.chosenLayout) setLayout(around.clientWidth < 720 ? 'outline' : 'diagram');
    const levels = Math.max(...treeView.items.filter(isSeen).map((item) => Number(item.getAttribute('aria-level'))));
    const fitting = () => (frame.clientWidth - EDGES - (levels - 1) * GAP_BETWEEN) / levels;
    around.classList.remove('stacked');
    around.classList.toggle('stacked', around.clientWidth < 960 || fitting() < BOX.good);
    treeView.tree.style.setProperty('--box', `${Math.min(BOX.most, Math.max(BOX.least, fitting()))}px`);
    drawLinks();
}

function setLayout(layout) {
    treeView.tree.dataset.layout = layout;
    document.querySelectorAll('input[name="layout"]').forEach((input) => {
        input.checked = input.value === layout;
    });
    drawLinks();
}

// Links run from the right of a box to the left of the next; wide where many records go.
function drawLinks() {
    const { tree, links, items } = treeView;
    links.replaceChildren();
    if (tree.dataset.layout !== 'diagram') return;
    const origin = tree.getBoundingClientRect();
    links.setAttribute('width', tree.scrollWidth);
    links.setAttribute('height', tree.scrollHeight);
    const order = DATA.nodes
        .map((_, place) => place)
        .sort((a, b) => items[a].classList.contains('taken') - items[b].classList.contains('taken'));
    for (const place of order) {
        const parent = DATA.nodes[place].parent;
        const [from, to] = [items[parent], items[place]].map((item) => item && item.getBoundingClientRect());
        if (!from || !to.width) continue;
        const [x, y] = [from.right - origin.left, from.top + from.height / 2 - origin.top];
        const [u, v] = [to.left - origin.left, to.top + to.height / 2 - origin.top];
        const width = 1.5 + 12 * (DATA.nodes[place].records / Math.max(1, DATA.nodes[0].records));
        const middle = (x + u) / 2;
        links.append(
            draw('path', {
                d: `M${x} ${y}C${middle} ${y} ${middle} ${v} ${u} ${v}`,
                'stroke-width': width,
                class: items[place].classList.contains('taken') ? 'taken' : null,
            }),
        );
    }
}

function setFold(place, folded) {
    const item = treeView.items[place];
    if (!item.hasAttribute('aria-expanded')) return;
    item.setAttribute('aria-expanded', String(!folded));
    item.querySelector('.fold').textContent = folded ? '+' : '−';
}

function fold(place, folded = treeView.items[place].getAttribute('aria-expanded') === 'true') {
    setFold(place, folded);
    drawLinks();
}

function foldBelow(level) {
    DATA.nodes.forEach((_, place) => setFold(place, Number(treeView.items[place].getAttribute('aria-level')) > level));
}

function foldAll(folded) {
    foldBelow(folded ? 0 : Infinity);
    select(0, false);
    arrange();
    showRoot();
}

// A large tree is scrolled to where it begins.
function showRoot() {
    const [frame, box] = [byId('tree-frame'), treeView.items[0]];
    const above = box.getBoundingClientRect().top - treeView.tree.getBoundingClientRect().top;
    frame.scrollTo(0, Math.max(0, above - (frame.clientHeight - box.offsetHeight) / 2));
}

function select(place, focus) {
    treeView.items.forEach((item, i) => {
        item.setAttribute('aria-selected', String(i === place));
        item.tabIndex = i === place ? 0 : -1;
    });
    if (focus) treeView.items[place].focus({ preventScroll: false });
    showDetails(place);
}

const isSeen = (item) => item.getClientRects().length > 0;
const isVisible = (place) => isSeen(treeView.items[place]);

function treeKeys(event) {
    const place = Number(event.target.dataset.place);
    if (Number.isNaN(place) || event.altKey || event.ctrlKey || event.metaKey) return;
    const open = treeView.items[place].getAttribute('aria-expanded');
    const seen = DATA.nodes.map((_, i) => i).filter(isVisible);
    const at = seen.indexOf(place);
    const go = (to) => to !== undefined && to >= 0 && select(to, true);
    const keys = {
        ArrowDown: () => go(seen[at + 1]),
        ArrowUp: () => go(seen[at - 1]),
        Home: () => go(seen[0]),
        End: () => go(seen[seen.length - 1]),
        ArrowRight: () => (open === 'false' ? fold(place, false) : open && go(childrenOf(place)[0])),
        ArrowLeft: () => (open === 'true' ? fold(place, true) : go(DATA.nodes[place].parent)),
        Enter: () => open && fold(place),
        ' ': () => open && fold(place),
    };
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
}

// The way of a record lights up, unfolded so that all of it can be seen.
function showWay(record) {
    treeView.items.forEach((item) => item.classList.remove('taken'));
    treeView.records.value = record === null ? '' : String(DATA.records.indexOf(record));
    if (record !== null) {
        for (const turn of record.way) setFold(turn.node, false);
        const leaf = DATA.categories[record.category - 1].node;
        for (const place of [...record.way.map((turn) => turn.node), leaf])
            treeView.items[place].classList.add('taken');
    }
    drawLinks();
}
