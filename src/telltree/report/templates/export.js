// Tables as CSV, made here. A cell that a spreadsheet might take for a formula gets an apostrophe in front.
function cell(value) {
    let text = value === null || value === undefined ? '' : String(value);
    if (/^[=@\t\r]/.test(text) || (/^[+-]/.test(text) && Number.isNaN(Number(text)))) text = `'${text}`;
    return /[",\r\n;]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const csv = (rows) => `\ufeff${rows.map((row) => row.map(cell).join(',')).join('\r\n')}\r\n`;

function download(name, text) {
    const address = URL.createObjectURL(new Blob([text], { type: 'text/csv;charset=utf-8' }));
    const link = make('a', { href: address, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
    say(`Downloaded ${name}.`);
}

function categoryRows() {
    const figures = Object.keys(DATA.categories[0].values);
    const head = [
        'category',
        DATA.words.predicted,
        'records',
        'coverage',
        ...figures,
        'exceptions',
        'headline',
        'short',
        'english',
        'paper',
        'formula',
    ];
    return [
        head,
        ...DATA.categories.map((c) => [
            c.number,
            c.predicted,
            c.records,
            c.coverage,
            ...figures.map((name) => c.values[name]),
            c.wrong,
            c.headline,
            c.short ?? c.english,
            c.english,
            c.paper,
            c.formula,
        ]),
    ];
}

function memberRows() {
    const { ids, category, label } = DATA.list;
    return [
        ['record', 'category', 'predicted', 'label'],
        ...ids.map((id, i) => [
            id,
            category[i],
            DATA.categories[category[i] - 1].predicted,
            label ? LABELS[label[i]] : null,
        ]),
    ];
}

function startExport() {
    const sentences = DATA.categories.map((c) => `[${c.number}] ${c.title}: ${c.english}`).join('\n');
    byId('export-tools').append(
        make(
            'button',
            { type: 'button', click: () => download('categories.csv', csv(categoryRows())) },
            'Download categories (CSV)',
        ),
        make(
            'button',
            { type: 'button', click: () => download('members.csv', csv(memberRows())) },
            'Download members (CSV)',
        ),
        make('button', { type: 'button', click: () => copy(sentences, 'all sentences') }, 'Copy all sentences'),
    );
    if (DATA.list.ids.length < DATA.total) {
        byId('export-tools').append(
            make(
                'p',
                { class: 'quiet' },
                `The table of members has ${whole(DATA.list.ids.length)} of ${whole(DATA.total)} records, drawn at random.`,
            ),
        );
    }
}
