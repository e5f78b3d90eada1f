// Times in words, as clock.py has them: durations in the largest unit that reads well, dates where times were dates.
function timeWords(record, time) {
    if (record.d) return dateWords(record, time) + record.d[1];
    for (const [unit, size] of Math.abs(time) <= DATA.longest ? DATA.units : []) {
        const halves = Math.round((2 * time) / size);
        const near = Math.abs((2 * time) / size - halves) < 1e-9 * Math.abs(halves);
        if (Math.abs(halves) >= 2 && near) return `${said(halves / 2)} ${unit}`;
    }
    return `${said(time, 12)}${DATA.time_unit ? ` ${DATA.time_unit}` : ''}`;
}

// What to divide times by on an axis that spans so much, and the unit they have then.
function axisUnit(span) {
    const found = span <= DATA.longest ? DATA.units.find(([, size]) => span >= DATA.fitting * size) : null;
    return found ? [found[1], found[0]] : [1, DATA.time_unit];
}

// Seconds from time 0 of the record to what its clock shows. Dates beyond those that a browser knows stay times.
function dateWords(record, time) {
    const date = new Date(record.d[0] + Math.round(1000 * time));
    if (Number.isNaN(date.getTime())) return `${said(time, 12)} s`;
    const [day, clock] = date.toISOString().split('T');
    return DATA.daily ? day : `${day} ${clock.slice(0, 12).replace(/(:00)?\.000$/, '').replace(/(\.\d*?)0+$/, '$1')}`;
}

const [MINUTE, HOUR, DAY] = [60, 3600, 86400];
const PACES = [1, 2, 5, 10, 15, 30]
    .concat([1, 2, 5, 10, 15, 30].map((k) => k * MINUTE))
    .concat([1, 2, 3, 6, 12].map((k) => k * HOUR));

function pace(raw) {
    if (raw < 1) return decimal(raw);
    return PACES.find((size) => size >= raw) || DAY * Math.ceil(decimal(raw / DAY));
}

// Ticks at round hours and days of the record's clock; the day is said where it is another than that of the tick before.
function dateAxis(record) {
    const [first, last] = record.t;
    const begin = record.d[0] / 1000;
    let before = '';
    const marks = ticks(first + begin, last + begin, pace).map((tick) => {
        const [day, clock] = dateWords(record, tick - begin).split(' ');
        const another = day !== before;
        before = day;
        if (clock === undefined || (another && clock === '00:00')) return [tick - begin, day];
        return [tick - begin, another ? `${day} ${clock}` : clock];
    });
    return { marks, name: `time${record.d[1] ? ` (UTC${record.d[1]})` : ''}` };
}
