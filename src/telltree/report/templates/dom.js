// Elements are made one by one, and text goes in as text: nothing from the data is ever read as markup.
const DATA = JSON.parse(document.getElementById('data').textContent);

function fill(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
        if (value === null || value === undefined || value === false) continue;
        if (typeof value === 'function') element.addEventListener(name, value);
        else element.setAttribute(name, value === true ? '' : value);
    }
    element.append(
        ...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false),
    );
    return element;
}

const make = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
const draw = (tag, attributes = {}, ...children) =>
    fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
const byId = (id) => document.getElementById(id);

const whole = (number) => number.toLocaleString('en-US');

// Numbers for reading: six digits, and an exponent only where there is no way round it.
function said(number, digits = 6) {
    if (number === null || number === undefined) return '∞';
    if (number === 0 || Math.abs(number) < 1e-12) return '0';
    const size = Math.abs(number);
    if (Number.isInteger(number) && size < 1e15) return whole(number);
    return size >= 1e15 || size < 1e-4 ? number.toExponential(digits - 2) : String(Number(number.toPrecision(digits)));
}

function percent(share) {
    if (share === null) return '–';
    if (share === 0 || share === 1) return `${share * 100} %`;
    const text = (share * 100).toFixed(1);
    if (text === '0.0') return '< 0.1 %';
    return text === '100.0' ? '> 99.9 %' : `${text} %`;
}

const counted = (number, thing, things = `${thing}s`) => `${whole(number)} ${number === 1 ? thing : things}`;

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

// Short word to the reader, heard by screen readers too.
let silence = 0;
function say(text) {
    byId('said').textContent = text;
    clearTimeout(silence);
    silence = setTimeout(() => {
        byId('said').textContent = '';
    }, 4000);
}

async function copy(text, what) {
    try {
        await navigator.clipboard.writeText(text);
        say(`Copied ${what}.`);
    } catch {
        say(copyByHand(text) ? `Copied ${what}.` : `Your browser does not let this page copy ${what}.`);
    }
}

// For browsers that keep the clipboard from pages opened as files.
function copyByHand(text) {
    const area = make('textarea', { class: 'hidden-text', 'aria-hidden': 'true', tabindex: '-1' });
    const before = document.activeElement;
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    if (before) before.focus();
    return done;
}

const copyButton = (label, text, what) =>
    make(
        'button',
        { type: 'button', class: 'small', 'aria-label': `${label}: ${what}`, click: () => copy(text(), what) },
        label,
    );

const short = (text, most = 70) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

const field = (name, control) => make('label', { class: 'field' }, make('span', {}, name), control);

const chooser = (options, change) => {
    const select = make('select', { change: () => change(select.value) });
    select.append(...options.map(([value, text]) => make('option', { value }, short(text))));
    return select;
};

// A row of radio buttons that look like one control.
function segments(legend, name, options, chosen, change) {
    const parts = options.map(([value, text]) => {
        const input = make('input', { type: 'radio', name, value, autocomplete: 'off', change: () => change(value) });
        input.checked = value === chosen;
        return make('label', {}, input, make('span', {}, text));
    });
    return make('fieldset', {}, make('legend', {}, legend), make('div', { class: 'segments' }, parts));
}
